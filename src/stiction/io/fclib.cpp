// FCLIB's HDF5 files of friction-contact problems.
//
//   fclib_local    u = W r + q                        W, vectors/q, vectors/mu, spacedim
//   fclib_global   M v = H r + f,  u = Hᵀ v + w       M, H, vectors/f, vectors/w, vectors/mu, spacedim
// Matrices: m, n, nz, nzmax, p, i, x as in CSparse; nz >= 0: triplets (i rows, p columns), -1: compressed columns, -2: compressed
// rows. Bilateral constraints of a global problem (G) are not supported.
#include "stiction/base/errors.hpp"
#include "stiction/io/formats.hpp"

#ifdef STICTION_HDF5

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <hdf5.h>

#include "stiction/problem/reduce_sparse.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr hsize_t kMostNumbers = 1u << 28;

// An open object of the library; its message printing is off, errors are ours.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  bool open() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

class Hdf5File {
 public:
  explicit Hdf5File(const std::string& file) : file_(file), id_(quiet_open(file), H5Fclose) {
    if (!id_.open()) throw FileError(file, "", "not an HDF5 file, or a damaged one");
  }

  [[noreturn]] void fail(const std::string& path, std::string_view reason) const { throw FileError(file_, path, reason); }

  /// Whether every part of the path is there.
  bool has(const std::string& path) const {
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
      if (H5Lexists(id_.get(), path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return H5Lexists(id_.get(), path.c_str(), H5P_DEFAULT) > 0;
  }

  std::vector<double> numbers(const std::string& path) const {
    if (!has(path)) fail(path, "missing");
    const Handle set(H5Dopen2(id_.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.open()) fail(path, "cannot be opened as a data set");
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    if (count < 0 || static_cast<hsize_t>(count) > kMostNumbers) fail(path, "has an impossible size");
    std::vector<double> out(count);
    if (count > 0 && H5Dread(set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0) {
      fail(path, "cannot be read as numbers");
    }
    return out;
  }
  VectorXd vector(const std::string& path) const {
    const std::vector<double> values = numbers(path);
    return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
  }
  Index integer(const std::string& path, Index least, Index most) const {
    const std::vector<double> values = numbers(path);
    if (values.size() != 1) fail(path, fmt::format("expected one number, got {}", values.size()));
    return as_index(path, values[0], least, most);
  }
  Index as_index(const std::string& path, double value, Index least, Index most) const {
    if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) || value != std::floor(value)) {
      fail(path, fmt::format("expected an integer from {} to {}, got {}", least, most, value));
    }
    return static_cast<Index>(value);
  }

 private:
  static hid_t quiet_open(const std::string& file) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  }
  std::string file_;
  Handle id_;
};

// `outer` begins of `inner` lists, as (outer, inner, value).
void read_compressed(const Hdf5File& in, const std::string& path, Index outer_size, Index inner_size, bool outer_is_row,
                     std::vector<Eigen::Triplet<double>>& out) {
  const std::vector<double> begin = in.numbers(path + "/p"), inner = in.numbers(path + "/i"), value = in.numbers(path + "/x");
  if (static_cast<Index>(begin.size()) < outer_size + 1)
    in.fail(path + "/p", fmt::format("expected {} numbers, got {}", outer_size + 1, begin.size()));
  const Index most = static_cast<Index>(std::min(inner.size(), value.size()));
  Index at = in.as_index(path + "/p", begin[0], 0, most);
  for (Index j = 0; j < outer_size; ++j) {
    const Index end = in.as_index(path + "/p", begin[static_cast<std::size_t>(j) + 1], at, most);
    for (; at < end; ++at) {
      const int k = static_cast<int>(in.as_index(path + "/i", inner[at], 0, inner_size - 1));
      const double x = value[at];
      out.emplace_back(outer_is_row ? static_cast<int>(j) : k, outer_is_row ? k : static_cast<int>(j), x);
    }
  }
}

SparseMatrix read_matrix(const Hdf5File& in, const std::string& path) {
  constexpr Index kMost = 100000000;
  const Index m = in.integer(path + "/m", 0, kMost), n = in.integer(path + "/n", 0, kMost), nz = in.integer(path + "/nz", -2, kMost);
  std::vector<Eigen::Triplet<double>> entries;
  if (nz < 0) {
    read_compressed(in, path, nz == -1 ? n : m, nz == -1 ? m : n, nz == -2, entries);
  } else {
    const std::vector<double> row = in.numbers(path + "/i"), col = in.numbers(path + "/p"), value = in.numbers(path + "/x");
    const std::size_t count = static_cast<std::size_t>(nz);
    if (std::min({row.size(), col.size(), value.size()}) < count) in.fail(path, fmt::format("fewer than nz = {} triplets", nz));
    for (std::size_t k = 0; k < count; ++k) {
      entries.emplace_back(static_cast<int>(in.as_index(path + "/i", row[k], 0, m - 1)),
                           static_cast<int>(in.as_index(path + "/p", col[k], 0, n - 1)), value[k]);
    }
  }
  SparseMatrix out(m, n);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

void require_shape(const Hdf5File& in, const std::string& path, Index rows, Index cols, Index expected_rows, Index expected_cols) {
  if (rows != expected_rows || cols != expected_cols) {
    in.fail(path, fmt::format("expected {} x {}, got {} x {}", expected_rows, expected_cols, rows, cols));
  }
}

ReducedProblem read_local(const Hdf5File& in, const LoadOptions& options) {
  const std::string group = "fclib_local";
  const Index dimension = in.integer(group + "/spacedim", 2, 3);
  const VectorXd mu = in.vector(group + "/vectors/mu"), q = in.vector(group + "/vectors/q");
  const SparseMatrix W = read_matrix(in, group + "/W");
  const Index rows = dimension * mu.size();
  require_shape(in, group + "/W", W.rows(), W.cols(), rows, rows);
  require_shape(in, group + "/vectors/q", q.size(), 1, rows, 1);
  const SparseMatrix E = plane_rows(dimension, mu.size());
  return reduce_sparse(E * W * E.transpose(), E * q, mu, options.symmetric_part);
}

ReducedProblem read_global(const Hdf5File& in) {
  const std::string group = "fclib_global";
  if (in.has(group + "/G/n") && in.integer(group + "/G/n", 0, 100000000) > 0) {
    in.fail(group + "/G", "bilateral constraints are not supported");
  }
  const Index dimension = in.integer(group + "/spacedim", 2, 3);
  const VectorXd mu = in.vector(group + "/vectors/mu"), f = in.vector(group + "/vectors/f"), w = in.vector(group + "/vectors/w");
  const SparseMatrix M = read_matrix(in, group + "/M"), H = read_matrix(in, group + "/H");
  const Index rows = dimension * mu.size();
  require_shape(in, group + "/M", M.rows(), M.cols(), f.size(), f.size());
  require_shape(in, group + "/H", H.rows(), H.cols(), f.size(), rows);
  require_shape(in, group + "/vectors/w", w.size(), 1, rows, 1);
  const SparseMatrix E = plane_rows(dimension, mu.size());
  return reduce_global(M, H * E.transpose(), f, E * w, mu, dimension == 3 ? 6 : 3);
}

}  // namespace

ReducedProblem load_fclib(const std::string& file, const LoadOptions& options) {
  const Hdf5File in(file);
  if (in.has("fclib_local")) return read_local(in, options);
  refuse_symmetric_part(file, options);
  if (in.has("fclib_global")) return read_global(in);
  in.fail("", "neither fclib_local nor fclib_global is in the file");
}

}  // namespace stiction

#else

namespace stiction {

ReducedProblem load_fclib(const std::string& file, const LoadOptions& /*options*/) {
  throw FileError(file, "", "this build cannot read HDF5: build it with the HDF5 library (libhdf5-dev)");
}

}  // namespace stiction

#endif
