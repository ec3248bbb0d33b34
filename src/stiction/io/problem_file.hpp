// Contact problems as files, so that any step of any run can be saved, sent and solved again.
//
//   .json       ours: versioned, human-readable, every double and the block structure survive exactly; infinities as strings
//   .npz        as numpy.savez writes it, stored or deflated. M, v, J, mu, dt, impulse, gap, restitution, J_b, b, lo, hi, prescribed,
//               v_prescribed and, for a world of several bodies, `blocks` (sizes of M's diagonal blocks); or W, q, mu; or, as
//               saved from here, the members of ReducedProblem. Left out: impulse, gap, restitution = 0, no rows, dt = 1e-3.
//               `laws` (n names) and `material_FIELD` (n numbers each) where contacts have their own law or parameters;
//               `ids` (n) and `row_ids` (m), names of contacts and rows, as words of decimal digits; `row_kinds` (m words), what the rows
//               are; `row_compliance` (m).
//   text        Siconos' friction-contact files: local, u = W r + q, and global, M v = H r + q, u = Hᵀ v + b (dense, block-sparse, sparse
//               matrices). Plane problems (two rows per contact) gain a second tangent along which nothing moves.
//   .hdf5       FCLIB: fclib_local (W, q, mu) and fclib_global (M v = H r + f, u = Hᵀ v + w), the latter condensed through a
//               sparse Cholesky of M, one block of columns per connected component of M. Needs a build with HDF5.
// What a file is, its content says, not its name, but text in a .json is JSON. Arrays and keys that are none of ours are refused.
// Nothing a file contains may crash or hang the reader: sizes are checked against what the file holds before memory is asked for. Contact
// rows: normal, tangent 1, tangent 2.
#pragma once

#include <filesystem>
#include <variant>

#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

/// A problem with its inertia, or one known only through its contacts.
using AnyProblem = std::variant<ContactProblem, ReducedProblem>;

struct LoadOptions {
  bool symmetric_part = false;  ///< (W + Wᵀ)/2 in place of a file's W (see reduce_dense); others are refused
};

/// Reads and validates a problem in any of the formats above. Throws FileError naming file, line or key, and reason.
AnyProblem load_problem(const std::filesystem::path& path, const LoadOptions& options = {});

/// Writes a problem, as JSON or npz by the extension of `path` (.json, .npz; InvalidArgument for others). Throws FileError.
void save_problem(const std::filesystem::path& path, const ContactProblem& problem);
void save_problem(const std::filesystem::path& path, const ReducedProblem& problem);

/// Linear complementarity problem w = M z + q, 0 <= w ⊥ z >= 0.
struct Lcp {
  Eigen::MatrixXd M;  ///< n x n
  Eigen::VectorXd q;  ///< n
};

/// Reads Siconos' text format: n, then M and q; remarks may follow. Throws FileError.
Lcp load_lcp(const std::filesystem::path& path);
/// Whether the file begins as such a problem does: n, storage, n, n. False when it cannot be read.
bool holds_lcp(const std::filesystem::path& path);

}  // namespace stiction
