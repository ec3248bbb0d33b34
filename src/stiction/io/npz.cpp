// Contact problems as numpy.savez writes them: a zip archive of arrays, `M.npy`, `J.npy`, ...
//
// An array is the magic "\x93NUMPY", a version, the length of a header, the header (a Python dictionary with descr,
// fortran_order and shape) and the entries. Little-endian integers, booleans, floats and words (S, U) are read.
// Laws are words; materials are one array per field, `material_viscosity` (n), ..., `material_spring` (n x 2). Names are words. Arrays of
// other names are refused.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"
#include "stiction/io/formats.hpp"
#include "stiction/io/npz_writer.hpp"
#include "stiction/io/zip.hpp"
#include "stiction/problem/connected_blocks.hpp"
#include "stiction/problem/reduce_sparse.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

static_assert(std::endian::native == std::endian::little, "arrays are read and written as little-endian");

constexpr std::string_view kMagic = "\x93NUMPY";

struct Array {
  std::vector<std::uint64_t> shape;
  bool fortran_order = false;
  VectorXd values;
  std::vector<std::string> words;  ///< instead of values
};

[[noreturn]] void fail(const std::string& file, std::string_view key, std::string_view reason) { throw FileError(file, key, reason); }

// The text of a header after 'key': up to the comma that ends the value.
std::string_view header_value(const std::string& file, const std::string& key, std::string_view header, std::string_view name) {
  const std::size_t at = header.find(fmt::format("'{}'", name)), colon = header.find(':', at);
  if (at == std::string_view::npos || colon == std::string_view::npos) fail(file, key, fmt::format("the array header has no {}", name));
  const std::size_t begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view{} : header.substr(begin);
}

std::vector<std::uint64_t> parse_shape(const std::string& file, const std::string& key, std::string_view text) {
  if (!text.starts_with('(')) fail(file, key, "the array header has no shape");
  std::vector<std::uint64_t> shape;
  std::uint64_t value = 0;
  bool digits = false;
  for (const char c : text.substr(1)) {
    if (c >= '0' && c <= '9') {
      if (value > 1000000000000) fail(file, key, "the shape is too large");
      value = 10 * value + static_cast<std::uint64_t>(c - '0');
      digits = true;
    } else if (c == ',' || c == ')') {
      if (digits) shape.push_back(value);
      value = 0;
      digits = false;
      if (c == ')') return shape;
    } else if (c != ' ') {
      break;
    }
  }
  fail(file, key, "the shape in the array header is damaged");
}

template <class T>
void convert(std::string_view raw, VectorXd& out) {
  for (Index i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, raw.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
}

struct Type {
  std::string_view name;
  std::size_t size;
  void (*convert)(std::string_view, VectorXd&);
};
constexpr Type kTypes[] = {
    {"f8", 8, convert<double>},        {"f4", 4, convert<float>},         {"i8", 8, convert<std::int64_t>},
    {"i4", 4, convert<std::int32_t>},  {"i2", 2, convert<std::int16_t>},  {"i1", 1, convert<std::int8_t>},
    {"u8", 8, convert<std::uint64_t>}, {"u4", 4, convert<std::uint32_t>}, {"u2", 2, convert<std::uint16_t>},
    {"u1", 1, convert<std::uint8_t>},  {"b1", 1, convert<std::uint8_t>},
};

const Type& parse_type(const std::string& file, const std::string& key, std::string_view text) {
  const std::string_view name = text.substr(0, text.find('\'', 1));
  if (name.size() == 4 && (name[1] == '<' || name[1] == '|' || name[1] == '=')) {
    for (const Type& type : kTypes) {
      if (type.name == name.substr(2)) return type;
    }
  }
  fail(file, key,
       fmt::format("arrays of type {}' are not supported, only little-endian floats of 4 or 8 bytes, integers and booleans",
                   name.substr(0, 20)));
}

// Words of `width` characters, 1 byte each ("S") or 4 ("U"), padded with zeros. Characters beyond ASCII become '?'.
std::vector<std::string> parse_words(std::string_view raw, std::size_t count, std::size_t width, std::size_t bytes) {
  std::vector<std::string> out(count);
  for (std::size_t i = 0; i < count * width; ++i) {
    const std::string_view character = raw.substr(i * bytes, bytes);
    const bool ascii = static_cast<unsigned char>(character[0]) < 128 && character.find_first_not_of('\0', 1) == std::string_view::npos;
    if (character.find_first_not_of('\0') != std::string_view::npos) out[i / width] += ascii ? character[0] : '?';
  }
  return out;
}

// The width of a type "<U7" or "|S7"; 0 for other types.
std::size_t word_width(std::string_view type) {
  if (type.size() < 4 || (type[2] != 'U' && type[2] != 'S') || type[1] == '>') return 0;
  std::size_t width = 0;
  for (const char c : type.substr(3, type.find('\'', 3) - 3)) {
    if (c < '0' || c > '9' || width > 1000) return 0;
    width = 10 * width + static_cast<std::size_t>(c - '0');
  }
  return width;
}

Array parse_array(const std::string& file, const std::string& key, std::string_view bytes) {
  if (bytes.size() < 12 || !bytes.starts_with(kMagic)) fail(file, key, "not a numpy array");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  std::size_t begin = 10, length = byte(8) | byte(9) << 8;
  if (byte(6) > 1) {
    begin = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > bytes.size() - begin) fail(file, key, "the array is truncated");
  const std::string_view header = bytes.substr(begin, length), raw = bytes.substr(begin + length);
  const std::string_view descr = header_value(file, key, header, "descr");
  Array array;
  array.fortran_order = header_value(file, key, header, "fortran_order").starts_with("True");
  array.shape = parse_shape(file, key, header_value(file, key, header, "shape"));
  double count = 1.0;
  for (const std::uint64_t extent : array.shape) count *= static_cast<double>(extent);
  if (const std::size_t width = word_width(descr); width > 0) {
    const std::size_t size = descr[2] == 'U' ? 4 : 1;
    if (count * static_cast<double>(width * size) > static_cast<double>(raw.size())) fail(file, key, "the array is truncated");
    array.words = parse_words(raw, static_cast<std::size_t>(count), width, size);
    return array;
  }
  const Type& type = parse_type(file, key, descr);
  if (count * static_cast<double>(type.size) > static_cast<double>(raw.size())) fail(file, key, "the array is truncated");
  array.values.resize(static_cast<Index>(count));
  type.convert(raw, array.values);
  return array;
}

// The arrays of an archive by key, as vectors and matrices of the sizes that are asked for.
class Arrays {
 public:
  Arrays(const std::string& file, std::string_view bytes) : file_(file) {
    for (const ZipMember& member : read_zip(file, bytes)) {
      if (!member.name.ends_with(".npy")) continue;
      const std::string key = member.name.substr(0, member.name.size() - 4);
      if (!arrays_.emplace(key, parse_array(file, key, member.bytes)).second) fail(file, key, "given twice");
    }
  }

  bool has(const std::string& key) const { return find(key) != arrays_.end(); }
  const Array& get(const std::string& key) const {
    const auto it = find(key);
    if (it == arrays_.end()) fail(file_, key, "this array is missing");
    if (!it->second.words.empty()) fail(file_, key, "expected numbers, got words");
    return it->second;
  }
  /// n words; empty when the archive has none.
  std::vector<std::string> words(const std::string& key, Index n) const {
    const auto it = find(key);
    if (it == arrays_.end()) return {};
    if (static_cast<Index>(it->second.words.size()) != n) fail(file_, key, fmt::format("expected {} words", n));
    return it->second.words;
  }
  double scalar(const std::string& key) const {
    if (get(key).values.size() != 1) fail(file_, key, fmt::format("expected one number, got {}", get(key).values.size()));
    return get(key).values[0];
  }
  const VectorXd& vector(const std::string& key) const {
    const Array& array = get(key);
    if (array.shape.size() > 1) fail(file_, key, fmt::format("expected a vector, got {} dimensions", array.shape.size()));
    return array.values;
  }
  VectorXd vector(const std::string& key, Index size) const {
    if (!has(key)) return VectorXd::Zero(size);
    const VectorXd& out = vector(key);
    if (out.size() != size) fail(file_, key, fmt::format("expected size {}, got {}", size, out.size()));
    return out;
  }
  MatrixXd matrix(const std::string& key) const {
    const Array& array = get(key);
    if (array.shape.size() != 2) fail(file_, key, fmt::format("expected a matrix, got {} dimensions", array.shape.size()));
    if (array.shape[0] > 2000000000 || array.shape[1] > 2000000000) fail(file_, key, "the shape is too large");
    const Index rows = static_cast<Index>(array.shape[0]), cols = static_cast<Index>(array.shape[1]);
    if (array.fortran_order) return Eigen::Map<const MatrixXd>(array.values.data(), rows, cols);
    return Eigen::Map<const RowMatrix>(array.values.data(), rows, cols);
  }
  MatrixXd matrix(const std::string& key, Index rows, Index cols) const {
    MatrixXd out = matrix(key);
    if (out.rows() != rows || out.cols() != cols) {
      fail(file_, key, fmt::format("expected {} x {}, got {} x {}", rows, cols, out.rows(), out.cols()));
    }
    return out;
  }
  std::vector<int> integers(const std::string& key) const {
    std::vector<int> out;
    if (!has(key)) return out;
    for (const double value : vector(key)) {
      if (!(value >= 0.0 && value <= 1e8) || value != static_cast<int>(value)) {
        fail(file_, key, fmt::format("expected integers >= 0, got {}", value));
      }
      out.push_back(static_cast<int>(value));
    }
    return out;
  }
  /// Sizes of the blocks of `columns` columns; one block when the archive names none.
  std::vector<int> blocks(Index columns) const {
    std::vector<int> sizes = integers("blocks");
    if (!has("blocks")) sizes.assign(1, static_cast<int>(columns));
    double total = 0.0;
    for (const int size : sizes) total += size;
    if (total != static_cast<double>(columns)) fail(file_, "blocks", fmt::format("expected sizes that sum to {}, got {}", columns, total));
    return sizes;
  }
  /// Whether the archive is of the kind of problem that has this array.
  bool is_of(const std::string& key) const { return arrays_.contains(key); }
  /// Refuses arrays that nobody has asked for.
  void require_known() const {
    for (const auto& [key, array] : arrays_) {
      if (std::ranges::find(known_, key) == known_.end()) {
        fail(file_, key, fmt::format("unknown array: expected some of {}", fmt::join(known_, ", ")));
      }
    }
  }
  [[noreturn]] void fail_kind() const { fail(file_, "", "expected arrays M, v, J, mu, or W, q, mu, or Rt, u_free, mu"); }
  const std::string& file() const { return file_; }

 private:
  std::map<std::string, Array>::const_iterator find(const std::string& key) const {
    if (std::ranges::find(known_, key) == known_.end()) known_.push_back(key);
    return arrays_.find(key);
  }

  std::string file_;
  std::map<std::string, Array> arrays_;
  mutable std::vector<std::string> known_;  ///< what was asked for
};

BlockDiagonal split_inertia(const Arrays& in, const MatrixXd& M, std::span<const int> sizes) {
  BlockDiagonal out(sizes);
  MatrixXd rest = M;
  for (int k = 0; k < out.blocks(); ++k) {
    auto part = rest.block(out.offset(k), out.offset(k), sizes[k], sizes[k]);
    out.block(k) = part;
    part.setZero();
  }
  if (!rest.isZero(0.0)) fail(in.file(), "M", "entries outside the diagonal blocks that `blocks` names");
  return out;
}

template <class Problem>
void read_laws(const Arrays& in, Problem& p) {
  const Index n = p.mu.size();
  for (const std::string& name : in.words("laws", n)) {
    const auto found = std::ranges::find(kLaws, name, [](Law law) { return to_string(law); });
    if (found == kLaws.end()) fail(in.file(), "laws", fmt::format("expected some of {}, got \"{}\"", law_names(), name.substr(0, 60)));
    p.laws.push_back(*found);
  }
  const auto material = [&]() -> std::vector<ContactMaterial>& {
    p.material.resize(n);
    return p.material;
  };
  for (const MaterialField& field : kMaterialFields) {
    const std::string key = fmt::format("material_{}", field.name);
    if (!in.has(key)) continue;
    const VectorXd values = in.vector(key, n);
    for (Index i = 0; i < n; ++i) material()[i].*field.member = values[i];
  }
  if (!in.has("material_spring")) return;
  const MatrixXd spring = in.matrix("material_spring", n, 2);
  for (Index i = 0; i < n; ++i) material()[i].spring = {spring(i, 0), spring(i, 1)};
}

// Names are words: 64 bits are more than a float has.
std::vector<std::uint64_t> read_ids(const Arrays& in, const std::string& key, Index n) {
  std::vector<std::uint64_t> out;
  for (const std::string& word : in.words(key, n)) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) {
      fail(in.file(), key, fmt::format("expected integers from 0 to 18446744073709551615, got \"{}\"", word.substr(0, 60)));
    }
    out.push_back(id);
  }
  return out;
}

void add_ids(NpzWriter& out, std::string_view key, const std::vector<std::uint64_t>& ids) {
  std::vector<std::string> words;
  for (const std::uint64_t id : ids) words.push_back(std::to_string(id));
  const std::vector<std::string_view> views(words.begin(), words.end());
  if (!views.empty()) out.words(key, views);
}

std::vector<RowKind> read_kinds(const Arrays& in, Index m) {
  std::vector<RowKind> out;
  for (const std::string& word : in.words("row_kinds", m)) {
    const auto found = find_row_kind(word);
    if (!found)
      fail(in.file(), "row_kinds", fmt::format("expected some of equality, limit, friction, motor, got \"{}\"", word.substr(0, 60)));
    out.push_back(*found);
  }
  return out;
}

ContactProblem read_contact_problem(const Arrays& in) {
  ContactProblem p;
  const MatrixXd M = in.matrix("M");
  const Index nv = M.rows(), n = in.vector("mu").size();
  if (M.cols() != nv) fail(in.file(), "M", fmt::format("expected a square matrix, got {} x {}", nv, M.cols()));
  const std::vector<int> sizes = in.blocks(nv);
  p.dt = in.has("dt") ? in.scalar("dt") : 1e-3;
  p.M = split_inertia(in, M, sizes);
  p.v = in.vector("v");
  p.impulse = in.vector("impulse", nv);
  p.J = BlockRows::from_dense(3, in.matrix("J", 3 * n, nv), sizes);
  p.mu = in.vector("mu");
  p.restitution = in.vector("restitution", n);
  p.gap = in.vector("gap", n);
  read_laws(in, p);
  p.prescribed = in.integers("prescribed");
  p.v_prescribed = in.vector("v_prescribed", static_cast<Index>(p.prescribed.size()));
  const Index m = in.has("J_b") ? in.matrix("J_b").rows() : 0;
  p.J_b = BlockRows::from_dense(1, in.has("J_b") ? in.matrix("J_b", m, nv) : MatrixXd(0, nv), sizes);
  p.b = in.vector("b", m);
  p.ids = read_ids(in, "ids", n);
  p.row_ids = read_ids(in, "row_ids", m);
  p.row_kinds = read_kinds(in, m);
  if (in.has("row_compliance")) p.row_compliance = in.vector("row_compliance", m);
  p.lo = in.has("lo") ? in.vector("lo", m) : VectorXd::Constant(m, -kInfinity);
  p.hi = in.has("hi") ? in.vector("hi", m) : VectorXd::Constant(m, kInfinity);
  if (!in.has("blocks")) find_blocks(p);
  return p;
}

ReducedProblem read_reduced_problem(const Arrays& in) {
  ReducedProblem p;
  const MatrixXd Rt = in.matrix("Rt");
  const Index n = in.vector("mu").size(), r = Rt.cols(), m = in.has("Bt") ? in.matrix("Bt").rows() : 0;
  const std::vector<int> sizes = in.blocks(r);
  p.Rt = BlockRows::from_dense(3, in.matrix("Rt", 3 * n, r), sizes);
  p.u_free = in.vector("u_free");
  p.mu = in.vector("mu");
  p.offset = in.vector("offset", n);
  if (in.has("dt")) p.dt = in.scalar("dt");
  if (in.has("gap")) p.gap = in.vector("gap", n);
  if (in.has("u_before")) p.u_before = in.vector("u_before", 3 * n);
  if (in.has("restitution")) p.restitution = in.vector("restitution", n);
  if (in.has("edge_angle")) p.edge_angle = in.vector("edge_angle", n);
  if (in.has("weight")) p.weight = in.vector("weight", n);
  if (in.has("velocity")) p.velocity = in.scalar("velocity");
  read_laws(in, p);
  p.closed.assign(n, 1);
  if (in.has("closed")) {
    const VectorXd closed = in.vector("closed", n);
    for (Index i = 0; i < n; ++i) p.closed[i] = closed[i] != 0.0;
  }
  p.Bt = BlockRows::from_dense(1, in.has("Bt") ? in.matrix("Bt", m, r) : MatrixXd(0, r), sizes);
  p.w_free = in.vector("w_free", m);
  p.ids = read_ids(in, "ids", n);
  p.row_ids = read_ids(in, "row_ids", m);
  p.lo = in.has("lo") ? in.vector("lo", m) : VectorXd::Constant(m, -kInfinity);
  p.hi = in.has("hi") ? in.vector("hi", m) : VectorXd::Constant(m, kInfinity);
  p.y_free = in.vector("y_free", r);
  if (in.has("defect")) p.defect = in.matrix("defect", 3 * n, 3 * n);
  return p;
}

template <class Problem>
void add_laws(NpzWriter& out, const Problem& p) {
  std::vector<std::string_view> names;
  for (const Law law : p.laws) names.push_back(to_string(law));
  if (!names.empty()) out.words("laws", names);
  if (p.material.empty()) return;
  const Index n = static_cast<Index>(p.material.size());
  for (const MaterialField& field : kMaterialFields) {
    const GrowVector values = VectorXd::NullaryExpr(n, [&](Index i) { return p.material[i].*field.member; });
    out.vector(fmt::format("material_{}", field.name), values);
  }
  out.matrix("material_spring", MatrixXd::NullaryExpr(n, 2, [&](Index i, Index j) { return p.material[i].spring[j]; }));
}

}  // namespace

AnyProblem parse_npz(const std::string& file, std::string_view bytes, const LoadOptions& options) {
  const Arrays in(file, bytes);
  AnyProblem out;
  if (!in.is_of("W")) refuse_symmetric_part(file, options);
  if (in.is_of("M")) {
    out = read_contact_problem(in);
  } else if (in.is_of("W")) {
    const Index n = in.vector("mu").size();
    const MatrixXd W = in.matrix("W", 3 * n, 3 * n);
    out = reduce_dense(W, in.vector("q"), in.vector("mu"), options.symmetric_part);
  } else if (in.is_of("Rt")) {
    out = read_reduced_problem(in);
  } else {
    in.fail_kind();
  }
  in.require_known();
  return out;
}

std::string to_npz(const ContactProblem& p) {
  NpzWriter out;
  out.matrix("M", p.M.to_dense());
  out.integers("blocks", p.M.sizes());
  out.vector("v", p.v);
  out.vector("impulse", p.impulse);
  out.scalar("dt", p.dt);
  out.matrix("J", p.J.to_dense());
  out.vector("mu", p.mu);
  out.vector("restitution", p.restitution);
  out.vector("gap", p.gap);
  add_laws(out, p);
  add_ids(out, "ids", p.ids);
  add_ids(out, "row_ids", p.row_ids);
  std::vector<std::string_view> kinds;
  for (const RowKind kind : p.row_kinds) kinds.push_back(to_string(kind));
  if (!kinds.empty()) out.words("row_kinds", kinds);
  out.integers("prescribed", p.prescribed);
  out.vector("v_prescribed", p.v_prescribed);
  out.matrix("J_b", p.J_b.to_dense());
  out.vector("b", p.b);
  out.vector("lo", p.lo);
  out.vector("hi", p.hi);
  if (p.row_compliance.size() > 0) out.vector("row_compliance", p.row_compliance);
  return out.archive();
}

std::string to_npz(const ReducedProblem& p) {
  NpzWriter out;
  const std::vector<int> closed(p.closed.begin(), p.closed.end());
  out.matrix("Rt", p.Rt.to_dense());
  out.integers("blocks", p.Rt.block_sizes());
  out.vector("u_free", p.u_free);
  out.vector("offset", p.offset);
  out.vector("mu", p.mu);
  out.integers("closed", closed);
  out.scalar("dt", p.dt);
  if (p.gap.size() > 0) out.vector("gap", p.gap);
  if (p.u_before.size() > 0) out.vector("u_before", p.u_before);
  if (p.restitution.size() > 0) out.vector("restitution", p.restitution);
  if (p.edge_angle.size() > 0) out.vector("edge_angle", p.edge_angle);
  if (p.weight.size() > 0) out.vector("weight", p.weight);
  out.scalar("velocity", p.velocity);
  add_laws(out, p);
  add_ids(out, "ids", p.ids);
  add_ids(out, "row_ids", p.row_ids);
  out.matrix("Bt", p.Bt.to_dense());
  out.vector("w_free", p.w_free);
  out.vector("lo", p.lo);
  out.vector("hi", p.hi);
  out.vector("y_free", p.y_free);
  if (p.defect.size() > 0) out.matrix("defect", p.defect);
  return out.archive();
}

}  // namespace stiction
