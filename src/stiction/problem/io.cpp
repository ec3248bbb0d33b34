#include "stiction/problem/io.hpp"

#include <fstream>
#include <new>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/problem/io_formats.hpp"

namespace stiction {

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) throw FileError(path.string(), "", "no such file");
  if (!fs::is_regular_file(status)) throw FileError(path.string(), "", "not a regular file");
  const auto size = fs::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw FileError(path.string(), "", "cannot be opened for reading");
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(in.gcount()) != size) throw FileError(path.string(), "", "cannot be read to its end");
  return bytes;
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw FileError(path.string(), "", "cannot be written");
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

AnyProblem parse(const std::string& file, std::string_view bytes) {
  if (bytes.starts_with("\x89HDF")) return load_fclib(file);
  if (bytes.starts_with("PK")) return parse_npz(file, bytes);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw FileError(file, "", "empty");
  if (bytes[first] == '{') return parse_json(file, bytes);
  return parse_siconos(file, bytes);
}

template <class Problem>
void save(const fs::path& path, const Problem& problem) {
  const std::string extension = path.extension().string();
  if (extension == ".json") {
    write_file(path, to_json(problem));
  } else if (extension == ".npz") {
    write_file(path, to_npz(problem));
  } else {
    throw InvalidArgument("path", "a file name that ends in .json or .npz", path.string());
  }
}

}  // namespace

AnyProblem load_problem(const fs::path& path) {
  return with_file_errors(path, [&](const std::string& file) {
    AnyProblem problem = parse(file, read_file(path));
    std::visit([](const auto& p) { validate(p); }, problem);
    return problem;
  });
}

Lcp load_lcp(const fs::path& path) {
  return with_file_errors(path, [&](const std::string& file) { return parse_siconos_lcp(file, read_file(path)); });
}

void save_problem(const fs::path& path, const ContactProblem& problem) { save(path, problem); }
void save_problem(const fs::path& path, const ReducedProblem& problem) { save(path, problem); }

void validate(const ReducedProblem& p) {
  const Eigen::Index n = p.contacts(), m = p.bounded_rows();
  if (p.Rt.height() != 3) throw InvalidArgument("Rt", "three rows per contact (N, S, T)", fmt::format("{}", p.Rt.height()));
  if (p.Bt.height() != 1) throw InvalidArgument("Bt", "one row per group", fmt::format("{}", p.Bt.height()));
  require_size("Bt.cols", p.Bt.cols(), p.Rt.cols());
  for (const BlockRows* rows : {&p.Rt, &p.Bt}) {
    for (int e = 0; e < rows->entry_end(rows->groups() - 1); ++e) require_finite(rows == &p.Rt ? "Rt" : "Bt", rows->entry(e));
  }
  require_size("u_free", p.u_free.size(), 3 * n);
  require_finite("u_free", p.u_free);
  require_size("offset", p.offset.size(), n);
  require_finite("offset", p.offset);
  require_size("mu", p.mu.size(), n);
  require_nonnegative("mu", p.mu, true);
  require_size("closed", static_cast<Eigen::Index>(p.closed.size()), n);
  require_size("w_free", p.w_free.size(), m);
  require_finite("w_free", p.w_free);
  require_size("lo", p.lo.size(), m);
  require_size("hi", p.hi.size(), m);
  for (Eigen::Index j = 0; j < m; ++j) {
    if (!(p.lo[j] <= p.hi[j]) || p.lo[j] == kInfinity || p.hi[j] == -kInfinity) {
      throw InvalidArgument(fmt::format("lo[{}], hi[{}]", j, j), "lo <= hi, lo < inf, hi > -inf", fmt::format("{}, {}", p.lo[j], p.hi[j]));
    }
  }
  require_size("y_free", p.y_free.size(), p.Rt.cols());
  require_finite("y_free", p.y_free);
  if (p.defect.size() == 0) return;
  require_size("defect.rows", p.defect.rows(), 3 * n);
  require_size("defect.cols", p.defect.cols(), 3 * n);
  require_finite("defect", p.defect);
}

}  // namespace stiction
