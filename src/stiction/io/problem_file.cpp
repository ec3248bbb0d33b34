#include "stiction/io/problem_file.hpp"

#include <fstream>
#include <iomanip>
#include <new>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"
#include "stiction/io/formats.hpp"

namespace stiction {

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  require_file(path.string());
  std::error_code error;
  const auto size = fs::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw FileError(path.string(), "", "cannot be opened for reading");
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(in.gcount()) != size) throw FileError(path.string(), "", "cannot be read to its end");
  return bytes;
}

// Whatever a reader throws becomes an error that names the file.
template <class Read>
auto with_file_errors(const fs::path& path, Read read) {
  try {
    return read(path.string());
  } catch (const InvalidArgument& error) {
    throw FileError(path.string(), "", error.what());
  } catch (const std::bad_alloc&) {
    throw FileError(path.string(), "", "needs more memory than there is");
  }
}

AnyProblem parse(const std::string& file, std::string_view bytes, const LoadOptions& options) {
  if (bytes.starts_with("\x89HDF")) return load_fclib(file, options);
  if (bytes.starts_with("PK")) return parse_npz(file, bytes, options);
  if (constexpr std::string_view mark = "\xEF\xBB\xBF"; bytes.starts_with(mark)) bytes.remove_prefix(mark.size());  // of byte order
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw FileError(file, "", "empty");
  if (bytes[first] == '{' || fs::path(file).extension() == ".json") {
    refuse_symmetric_part(file, options);
    return parse_json(file, bytes);
  }
  return parse_siconos(file, bytes, options);
}

template <class Problem>
void save(const fs::path& path, const Problem& problem) {
  const std::string extension = path.extension().string();
  if (extension == ".json") {
    write_file(path.string(), to_json(problem));
  } else if (extension == ".npz") {
    write_file(path.string(), to_npz(problem));
  } else {
    throw InvalidArgument("path", "a file name that ends in .json or .npz", path.string());
  }
}

}  // namespace

void refuse_symmetric_part(const std::string& file, const LoadOptions& options) {
  if (options.symmetric_part) throw FileError(file, "W", "missing, and its symmetric part is asked for");
}

AnyProblem load_problem(const fs::path& path, const LoadOptions& options) {
  if (holds_lcp(path)) throw FileError(path.string(), "", "a linear complementarity problem, not a contact problem");
  return with_file_errors(path, [&](const std::string& file) {
    AnyProblem problem = parse(file, read_file(path), options);
    std::visit([](const auto& p) { validate(p); }, problem);
    return problem;
  });
}

Lcp load_lcp(const fs::path& path) {
  return with_file_errors(path, [&](const std::string& file) { return parse_siconos_lcp(file, read_file(path)); });
}

bool holds_lcp(const fs::path& path) {
  std::ifstream in(path);
  std::string words[7];
  for (std::string& word : words) in >> std::setw(40) >> word;
  const bool storage = words[1] == "0" || words[1] == "1" || words[1] == "2";
  // A plane friction problem of one contact with a sparse W begins so too.
  const bool friction = words[2] == "2" && words[6] == "CSparse";
  return storage && words[0] == words[2] && words[2] == words[3] && !friction;
}

void save_problem(const fs::path& path, const ContactProblem& problem) { save(path, problem); }
void save_problem(const fs::path& path, const ReducedProblem& problem) { save(path, problem); }

}  // namespace stiction
