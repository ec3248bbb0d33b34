// The file formats, one pair of functions each. Internal: use problem_file.hpp. `file` names the file in errors.
#pragma once

#include <string>
#include <string_view>

#include "stiction/io/problem_file.hpp"
#include "stiction/problem/reduce_sparse.hpp"

namespace stiction {

// json.cpp
AnyProblem parse_json(const std::string& file, std::string_view text);
std::string to_json(const ContactProblem& problem);
std::string to_json(const ReducedProblem& problem);

// npz.cpp
AnyProblem parse_npz(const std::string& file, std::string_view bytes, const LoadOptions& options = {});
std::string to_npz(const ContactProblem& problem);
std::string to_npz(const ReducedProblem& problem);

// siconos.cpp
ReducedProblem parse_siconos(const std::string& file, std::string_view text, const LoadOptions& options = {});
Lcp parse_siconos_lcp(const std::string& file, std::string_view text);

// fclib.cpp
ReducedProblem load_fclib(const std::string& file, const LoadOptions& options = {});

/// Refuses LoadOptions::symmetric_part, of a file without a W.
void refuse_symmetric_part(const std::string& file, const LoadOptions& options);

/// 3 n x dimension n: numbers of contacts in the plane (dimension 2) or in space (3) among three rows a contact; in the plane the second
/// tangent is a row of zeros.
SparseMatrix plane_rows(Eigen::Index dimension, Eigen::Index contacts);

}  // namespace stiction
