// Contact problems as JSON, one contact per object, one matrix row per line.
//
//   {"format": "stiction contact problem", "version": 1, "dt": h, "blocks": [sizes], "M": [rows of each block], "v": [], "impulse": [],
//    "contacts": [{"mu", "restitution", "gap", "law", "material", "J": [{"block", "rows"}]}], "prescribed": [], "v_prescribed": [],
//    "rows": [{"kind", "b", "lo", "hi", "compliance", "J": [{"block", "rows"}]}]}
//   {"format": "stiction reduced problem", "version": 1, "dt": h, "blocks": [sizes],
//    "velocity": m/s, "contacts": [{"mu", "offset", "closed", "law", "material", "gap", "u_before", "restitution", "edge_angle", "weight",
//    "u_free", "Rt"}],
//    "rows": [{"w_free", "lo", "hi", "Bt"}], "y_free": [], "defect": [rows], absent when W has none}
// "id" (an integer from 0 to 2^64 - 1), of contacts and of rows, "law" (a name) and "material" ({field: number, "spring": [S, T]}) are
// there for every contact or for none, "kind" (equality, limit, friction, motor) for every row or for none; fields left out have their
// default. Of a reduced problem "dt" (1), "velocity" (0), "gap",
// "u_before", "restitution", "edge_angle" and "weight" (none) may be left out too. Other keys, and a key given twice, are refused. Doubles
// are written with the fewest digits that read back the same; infinities and NaN as the strings "inf", "-inf", "nan".
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "stiction/base/errors.hpp"
#include "stiction/io/formats.hpp"

namespace stiction {

namespace {

using Json = nlohmann::json;
using Eigen::Index;
using Eigen::VectorXd;

constexpr int kVersion = 1;
constexpr const char* kContactFormat = "stiction contact problem";
constexpr const char* kReducedFormat = "stiction reduced problem";

// ---- writing ----

std::string text(double x) {
  if (x == 0.0 && std::signbit(x)) return "-0.0";  // "-0" would be read as an integer
  if (std::isfinite(x)) return fmt::format("{}", x);
  return std::isnan(x) ? "\"nan\"" : x > 0.0 ? "\"inf\"" : "\"-inf\"";
}

template <class Values>
std::string list(const Values& values) {
  std::string out = "[";
  for (Index i = 0; i < values.size(); ++i) out += (i == 0 ? "" : ", ") + text(static_cast<double>(values[i]));
  return out + "]";
}

std::string integers(std::span<const int> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

template <class Matrix>
std::string matrix(const Matrix& m, std::string_view indent) {
  std::string out = "[";
  for (Index i = 0; i < m.rows(); ++i) {
    out += fmt::format("{}\n{}{}", i == 0 ? "" : ",", indent, list(VectorXd(m.row(i).transpose())));
  }
  return out + "]";
}

std::string entries(const BlockRows& rows, int group) {
  std::string out = "[";
  for (int e = rows.entry_begin(group); e < rows.entry_end(group); ++e) {
    out += fmt::format("{}{{\"block\": {}, \"rows\": {}}}", e == rows.entry_begin(group) ? "" : ", ", rows.entry_block(e),
                       matrix(rows.entry(e), "        "));
  }
  return out + "]";
}

// "name": [object 0, object 1, ...], one object per line.
template <class Object>
std::string objects(std::string_view name, int count, Object object) {
  std::string out = fmt::format("  \"{}\": [", name);
  for (int i = 0; i < count; ++i) out += fmt::format("{}\n    {{{}}}", i == 0 ? "" : ",", object(i));
  return out + "]";
}

// "law": ..., "material": {...}, as far as the problem has them.
std::string id_of(const std::vector<std::uint64_t>& ids, int i) { return ids.empty() ? "" : fmt::format("\"id\": {}, ", ids[i]); }

template <class Problem>
std::string law_of(const Problem& p, int contact) {
  const auto i = static_cast<std::size_t>(contact);
  std::string out;
  if (!p.laws.empty()) out += fmt::format("\"law\": \"{}\", ", to_string(p.laws[i]));
  if (p.material.empty()) return out;
  out += "\"material\": {";
  for (const MaterialField& field : kMaterialFields) out += fmt::format("\"{}\": {}, ", field.name, text(p.material[i].*field.member));
  return out + fmt::format("\"spring\": [{}, {}]}}, ", text(p.material[i].spring[0]), text(p.material[i].spring[1]));
}

// ---- reading ----

// A value with the way to it, for errors.
class Node {
 public:
  Node(const std::string& file, std::string path, const Json& json) : file_(&file), path_(std::move(path)), json_(&json) {}

  [[noreturn]] void fail(std::string_view reason) const { throw FileError(*file_, path_.empty() ? "top level" : path_, reason); }

  Node operator[](const char* key) const {
    const std::optional<Node> child = find(key);
    if (!child) fail(fmt::format("key \"{}\" is missing", key));
    return *child;
  }
  std::optional<Node> find(const char* key) const {
    if (!json_->is_object()) fail("expected an object");
    const auto it = json_->find(key);
    if (it == json_->end()) return std::nullopt;
    return Node(*file_, path_.empty() ? key : path_ + "." + key, *it);
  }
  Node at(std::size_t i) const { return Node(*file_, fmt::format("{}[{}]", path_, i), (*json_)[i]); }
  /// Number of elements of a list.
  std::size_t size() const {
    if (!json_->is_array()) fail("expected a list");
    return json_->size();
  }

  double number() const {
    if (json_->is_number()) return json_->get<double>();
    if (*json_ == "inf") return kInfinity;
    if (*json_ == "-inf") return -kInfinity;
    if (*json_ == "nan") fail("expected a number, got nan");
    fail("expected a number, \"inf\" or \"-inf\"");
  }
  int integer(int least, int most) const {
    if (!json_->is_number_integer() || json_->get<double>() < least || json_->get<double>() > most) {
      fail(fmt::format("expected an integer from {} to {}", least, most));
    }
    return json_->get<int>();
  }
  std::uint64_t name() const {
    if (!json_->is_number_unsigned()) fail("expected an integer from 0 to 18446744073709551615");
    return json_->get<std::uint64_t>();
  }
  std::string word() const {
    if (!json_->is_string()) fail("expected a string");
    return json_->get<std::string>();
  }
  /// Keys of an object.
  std::vector<std::string> keys() const {
    if (!json_->is_object()) fail("expected an object");
    std::vector<std::string> out;
    for (const auto& [key, value] : json_->items()) out.push_back(key);
    return out;
  }
  /// Refuses keys of an object that are none of these.
  void require_keys(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : json_->items()) {
      if (std::ranges::find(known, key) == known.end()) {
        (*this)[key.c_str()].fail(fmt::format("unknown key: expected some of {}", fmt::join(known, ", ")));
      }
    }
  }
  VectorXd vector() const {
    VectorXd out(static_cast<Index>(size()));
    for (std::size_t i = 0; i < size(); ++i) out[static_cast<Index>(i)] = at(i).number();
    return out;
  }
  template <class Matrix>
  void matrix(Matrix&& out) const {
    if (static_cast<Index>(size()) != out.rows()) fail(fmt::format("expected {} rows, got {}", out.rows(), size()));
    for (std::size_t i = 0; i < size(); ++i) {
      const Node row = at(i);
      if (static_cast<Index>(row.size()) != out.cols()) row.fail(fmt::format("expected {} numbers, got {}", out.cols(), row.size()));
      out.row(static_cast<Index>(i)) = row.vector().transpose();
    }
  }

 private:
  const std::string* file_;
  std::string path_;
  const Json* json_;
};

// Sizes only: nothing of these sizes is allocated before the data has been seen.
std::vector<int> read_blocks(const Node& node) {
  std::vector<int> sizes;
  double total = 0.0;
  for (std::size_t k = 0; k < node.size(); ++k) {
    sizes.push_back(node.at(k).integer(0, 1000000));
    total += sizes.back();
  }
  if (total > 1e8) node.fail("more than 1e8 columns");
  return sizes;
}

void read_entries(const Node& node, BlockRows& rows) {
  rows.add_group();
  for (std::size_t e = 0; e < node.size(); ++e) {
    const int block = node.at(e)["block"].integer(0, rows.blocks() - 1);
    const Node values = node.at(e)["rows"];
    // The first row decides before memory is asked for.
    if (values.size() == 0 || static_cast<int>(values.at(0).size()) != rows.block_size(block)) {
      values.fail(fmt::format("expected {} rows of {} numbers", rows.height(), rows.block_size(block)));
    }
    values.matrix(rows.add_entry(block));
    node.at(e).require_keys({"block", "rows"});
  }
}

ContactMaterial read_material(const Node& node) {
  ContactMaterial out;
  for (const std::string& key : node.keys()) {
    const Node value = node[key.c_str()];
    if (key == "spring") {
      if (value.size() != 2) value.fail(fmt::format("expected 2 numbers, got {}", value.size()));
      out.spring = {value.at(0).number(), value.at(1).number()};
      continue;
    }
    const auto field = std::ranges::find(kMaterialFields, key, &MaterialField::name);
    if (field == kMaterialFields.end()) value.fail("unknown material parameter");
    out.*field->member = value.number();
  }
  return out;
}

// Law and material of contact i: of every contact, or of none.
template <class Problem>
void read_law(const Node& contact, std::size_t i, Problem& p) {
  const auto law = contact.find("law"), material = contact.find("material");
  if (i > 0 && law.has_value() == p.laws.empty()) contact.fail("\"law\" is given for some contacts only");
  if (i > 0 && material.has_value() == p.material.empty()) contact.fail("\"material\" is given for some contacts only");
  if (law) {
    const std::string name = law->word();
    const auto found = std::ranges::find(kLaws, name, [](Law each) { return to_string(each); });
    if (found == kLaws.end()) law->fail(fmt::format("expected one of {}, got \"{}\"", law_names(), name.substr(0, 60)));
    p.laws.push_back(*found);
  }
  if (material) p.material.push_back(read_material(*material));
}

// The name of contact or row i: of every one, or of none.
void read_id(const Node& node, Index i, std::vector<std::uint64_t>& ids) {
  const auto id = node.find("id");
  if (i > 0 && id.has_value() == ids.empty()) node.fail("\"id\" is given for some only");
  if (id) ids.push_back(id->name());
}

// What row j is: every one, or none.
void read_kind(const Node& row, Index j, std::vector<RowKind>& kinds) {
  const auto kind = row.find("kind");
  if (j > 0 && kind.has_value() == kinds.empty()) row.fail("\"kind\" is given for some only");
  if (!kind) return;
  const std::string name = kind->word();
  const auto found = find_row_kind(name);
  if (!found) kind->fail(fmt::format("expected equality, limit, friction or motor, got \"{}\"", name.substr(0, 60)));
  kinds.push_back(*found);
}

BlockDiagonal read_inertia(const Node& node, std::span<const int> sizes) {
  if (node.size() != sizes.size()) node.fail(fmt::format("expected {} blocks, got {}", sizes.size(), node.size()));
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (static_cast<int>(node.at(k).size()) != sizes[k])
      node.at(k).fail(fmt::format("expected {} rows, got {}", sizes[k], node.at(k).size()));
    for (int i = 0; i < sizes[k]; ++i) {
      const Node row = node.at(k).at(static_cast<std::size_t>(i));
      if (static_cast<int>(row.size()) != sizes[k]) row.fail(fmt::format("expected {} numbers, got {}", sizes[k], row.size()));
    }
  }
  BlockDiagonal M(sizes);
  for (std::size_t k = 0; k < sizes.size(); ++k) node.at(k).matrix(M.block(static_cast<int>(k)));
  return M;
}

ContactProblem read_contact_problem(const Node& top) {
  ContactProblem p;
  p.dt = top["dt"].number();
  const std::vector<int> sizes = read_blocks(top["blocks"]);
  p.M = read_inertia(top["M"], sizes);
  p.v = top["v"].vector();
  p.impulse = top["impulse"].vector();
  const Node contacts = top["contacts"], rows = top["rows"], prescribed = top["prescribed"];
  const Index n = static_cast<Index>(contacts.size()), m = static_cast<Index>(rows.size());
  p.J.reset(3, sizes);
  p.mu.resize(n);
  p.restitution.resize(n);
  p.gap.resize(n);
  for (Index i = 0; i < n; ++i) {
    const Node contact = contacts.at(static_cast<std::size_t>(i));
    p.mu[i] = contact["mu"].number();
    p.restitution[i] = contact["restitution"].number();
    p.gap[i] = contact["gap"].number();
    read_law(contact, static_cast<std::size_t>(i), p);
    read_id(contact, i, p.ids);
    read_entries(contact["J"], p.J);
    contact.require_keys({"mu", "restitution", "gap", "id", "law", "material", "J"});
  }
  for (std::size_t i = 0; i < prescribed.size(); ++i) p.prescribed.push_back(prescribed.at(i).integer(0, p.velocities() - 1));
  p.v_prescribed = top["v_prescribed"].vector();
  p.J_b.reset(1, sizes);
  p.b.resize(m);
  p.lo.resize(m);
  p.hi.resize(m);
  for (Index j = 0; j < m; ++j) {
    const Node row = rows.at(static_cast<std::size_t>(j));
    p.b[j] = row["b"].number();
    p.lo[j] = row["lo"].number();
    p.hi[j] = row["hi"].number();
    read_id(row, j, p.row_ids);
    read_kind(row, j, p.row_kinds);
    if (const auto value = row.find("compliance")) {
      if (p.row_compliance.size() == 0) p.row_compliance.setZero(m);
      p.row_compliance[j] = value->number();
    }
    read_entries(row["J"], p.J_b);
    row.require_keys({"id", "kind", "b", "lo", "hi", "compliance", "J"});
  }
  top.require_keys({"format", "version", "dt", "blocks", "M", "v", "impulse", "contacts", "prescribed", "v_prescribed", "rows"});
  return p;
}

// The i-th part of a vector that is there for every contact or for none.
void read_optional(const Node& contact, const char* key, Index size, Index i, Index n, GrowVector& out) {
  const auto value = contact.find(key);
  if (i > 0 && value.has_value() == (out.size() == 0)) contact.fail(fmt::format("\"{}\" is given for some contacts only", key));
  if (!value) return;
  const VectorXd part = size == 1 ? VectorXd::Constant(1, value->number()) : value->vector();
  if (part.size() != size) value->fail(fmt::format("expected {} numbers, got {}", size, part.size()));
  if (i == 0) out.resize(size * n);
  out.segment(size * i, size) = part;
}

ReducedProblem read_reduced_problem(const Node& top) {
  ReducedProblem p;
  if (const auto dt = top.find("dt")) p.dt = dt->number();
  if (const auto velocity = top.find("velocity")) p.velocity = velocity->number();
  const std::vector<int> sizes = read_blocks(top["blocks"]);
  const Node contacts = top["contacts"], rows = top["rows"];
  const Index n = static_cast<Index>(contacts.size()), m = static_cast<Index>(rows.size());
  p.Rt.reset(3, sizes);
  p.u_free.resize(3 * n);
  p.mu.resize(n);
  p.offset.resize(n);
  for (Index i = 0; i < n; ++i) {
    const Node contact = contacts.at(static_cast<std::size_t>(i));
    p.mu[i] = contact["mu"].number();
    p.offset[i] = contact["offset"].number();
    p.closed.push_back(static_cast<char>(contact["closed"].integer(0, 1)));
    read_law(contact, static_cast<std::size_t>(i), p);
    read_id(contact, i, p.ids);
    read_optional(contact, "gap", 1, i, n, p.gap);
    read_optional(contact, "u_before", 3, i, n, p.u_before);
    read_optional(contact, "restitution", 1, i, n, p.restitution);
    read_optional(contact, "edge_angle", 1, i, n, p.edge_angle);
    read_optional(contact, "weight", 1, i, n, p.weight);
    const VectorXd u = contact["u_free"].vector();
    if (u.size() != 3) contact["u_free"].fail(fmt::format("expected 3 numbers, got {}", u.size()));
    p.u_free.segment<3>(3 * i) = u;
    read_entries(contact["Rt"], p.Rt);
    contact.require_keys(
        {"mu", "offset", "closed", "id", "law", "material", "gap", "u_before", "restitution", "edge_angle", "weight", "u_free", "Rt"});
  }
  p.Bt.reset(1, sizes);
  p.w_free.resize(m);
  p.lo.resize(m);
  p.hi.resize(m);
  for (Index j = 0; j < m; ++j) {
    const Node row = rows.at(static_cast<std::size_t>(j));
    p.w_free[j] = row["w_free"].number();
    p.lo[j] = row["lo"].number();
    p.hi[j] = row["hi"].number();
    read_id(row, j, p.row_ids);
    read_entries(row["Bt"], p.Bt);
    row.require_keys({"id", "w_free", "lo", "hi", "Bt"});
  }
  p.y_free = top["y_free"].vector();
  if (const auto defect = top.find("defect")) {
    if (static_cast<Index>(defect->size()) != 3 * n) defect->fail(fmt::format("expected {} rows, got {}", 3 * n, defect->size()));
    if (n > 0 && static_cast<Index>(defect->at(0).size()) != 3 * n) defect->at(0).fail(fmt::format("expected {} numbers", 3 * n));
    p.defect.resize(3 * n, 3 * n);
    defect->matrix(p.defect);
  }
  top.require_keys({"format", "version", "dt", "velocity", "blocks", "contacts", "rows", "y_free", "defect"});
  return p;
}

// Refuses a key that an object has twice, of which the parser keeps the last.
class KeysOnce : public nlohmann::json_sax<Json> {
 public:
  explicit KeysOnce(const std::string& file) : file_(&file) {}

  bool key(string_t& name) override {
    Open& object = open_.back();
    const auto [at, added] = object.keys.insert(name);
    object.key = &*at;
    if (!added) throw FileError(*file_, path(), "given twice");
    return true;
  }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool null() override { return pass(); }
  bool boolean(bool) override { return pass(); }
  bool number_integer(number_integer_t) override { return pass(); }
  bool number_unsigned(number_unsigned_t) override { return pass(); }
  bool number_float(number_float_t, const string_t&) override { return pass(); }
  bool string(string_t&) override { return pass(); }
  bool binary(binary_t&) override { return pass(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct Open {
    std::set<std::string> keys;
    const std::string* key = nullptr;  // of an object: the last
    std::size_t index = 0;
  };

  bool open() {
    open_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    return pass();
  }
  bool pass() {
    if (!open_.empty()) ++open_.back().index;
    return true;
  }
  std::string path() const {
    std::string out;
    for (const Open& each : open_) {
      out += each.key == nullptr ? fmt::format("[{}]", each.index) : (out.empty() ? "" : ".") + *each.key;
    }
    return out;
  }

  const std::string* file_;
  std::vector<Open> open_;
};

// nlohmann reports the byte; people look for lines.
std::size_t line_of(std::string_view text, std::size_t byte) {
  return 1 +
         static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size())), '\n'));
}

}  // namespace

AnyProblem parse_json(const std::string& file, std::string_view source) {
  Json json;
  try {
    json = Json::parse(source);
  } catch (const Json::parse_error& error) {
    throw FileError(file, fmt::format("line {}", line_of(source, error.byte)), error.what());
  } catch (const Json::exception& error) {
    throw FileError(file, "", error.what());
  }
  KeysOnce once(file);
  Json::sax_parse(source, &once);
  const Node top(file, "", json);
  const std::string format = top["format"].word();
  if (format != kContactFormat && format != kReducedFormat) {
    top["format"].fail(fmt::format("expected \"{}\" or \"{}\", got \"{}\"", kContactFormat, kReducedFormat, format.substr(0, 60)));
  }
  const int version = top["version"].integer(1, 1000000);
  if (version > kVersion)
    top["version"].fail(fmt::format("version {} is newer than this program, which reads up to {}", version, kVersion));
  if (format == kContactFormat) return read_contact_problem(top);
  return read_reduced_problem(top);
}

std::string to_json(const ContactProblem& p) {
  std::string out = fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"dt\": {},\n", kContactFormat, kVersion, text(p.dt));
  out += fmt::format("  \"blocks\": {},\n  \"M\": [", integers(p.M.sizes()));
  for (int k = 0; k < p.M.blocks(); ++k) out += fmt::format("{}\n    {}", k == 0 ? "" : ",", matrix(p.M.block(k), "      "));
  out += fmt::format("],\n  \"v\": {},\n  \"impulse\": {},\n", list(p.v), list(p.impulse));
  out += objects("contacts", p.contacts(), [&](int i) {
    return fmt::format("\"mu\": {}, \"restitution\": {}, \"gap\": {}, {}\n     \"J\": {}", text(p.mu[i]), text(p.restitution[i]),
                       text(p.gap[i]), id_of(p.ids, i) + law_of(p, i), entries(p.J, i));
  });
  out += fmt::format(",\n  \"prescribed\": {},\n  \"v_prescribed\": {},\n", integers(p.prescribed), list(p.v_prescribed));
  out += objects("rows", p.bounded_rows(), [&](int j) {
    const std::string kind = p.row_kinds.empty() ? "" : fmt::format("\"kind\": \"{}\", ", to_string(p.row_kinds[j]));
    const std::string soft = p.row_compliance.size() > 0 ? fmt::format("\"compliance\": {}, ", text(p.row_compliance[j])) : "";
    return fmt::format("{}\"b\": {}, \"lo\": {}, \"hi\": {},{}\n     \"J\": {}", id_of(p.row_ids, j) + kind, text(p.b[j]), text(p.lo[j]),
                       text(p.hi[j]), soft.empty() ? "" : " " + soft.substr(0, soft.size() - 1), entries(p.J_b, j));
  });
  return out + "\n}\n";
}

std::string to_json(const ReducedProblem& p) {
  std::string out = fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"dt\": {},\n", kReducedFormat, kVersion, text(p.dt));
  out += fmt::format("  \"velocity\": {},\n  \"blocks\": {},\n", text(p.velocity), integers(p.Rt.block_sizes()));
  out += objects("contacts", p.contacts(), [&](int i) {
    std::string extra = id_of(p.ids, i) + law_of(p, i);
    if (p.gap.size() > 0) extra += fmt::format("\"gap\": {}, ", text(p.gap[i]));
    if (p.u_before.size() > 0) extra += fmt::format("\"u_before\": {}, ", list(p.u_before.segment<3>(3 * i)));
    if (p.restitution.size() > 0) extra += fmt::format("\"restitution\": {}, ", text(p.restitution[i]));
    if (p.edge_angle.size() > 0) extra += fmt::format("\"edge_angle\": {}, ", text(p.edge_angle[i]));
    if (p.weight.size() > 0) extra += fmt::format("\"weight\": {}, ", text(p.weight[i]));
    return fmt::format("\"mu\": {}, \"offset\": {}, \"closed\": {}, {}\"u_free\": {},\n     \"Rt\": {}", text(p.mu[i]), text(p.offset[i]),
                       p.closed[i] != 0 ? 1 : 0, extra, list(p.u_free.segment<3>(3 * i)), entries(p.Rt, i));
  });
  out += ",\n" + objects("rows", p.bounded_rows(), [&](int j) {
           return fmt::format("{}\"w_free\": {}, \"lo\": {}, \"hi\": {},\n     \"Bt\": {}", id_of(p.row_ids, j), text(p.w_free[j]),
                              text(p.lo[j]), text(p.hi[j]), entries(p.Bt, j));
         });
  out += fmt::format(",\n  \"y_free\": {}", list(p.y_free));
  if (p.defect.size() > 0) out += fmt::format(",\n  \"defect\": {}", matrix(p.defect, "    "));
  return out + "\n}\n";
}

}  // namespace stiction
