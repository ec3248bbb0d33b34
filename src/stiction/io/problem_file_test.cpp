// What is saved is what is loaded, bit by bit; what is damaged is refused with an error that says where.
#include "stiction/io/problem_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/io/formats.hpp"
#include "stiction/io/zip.hpp"
#include "test_paths.hpp"

namespace stiction::problem_file_test {
namespace {

namespace fs = std::filesystem;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Of this process, for tests run side by side; gone when it ends.
struct ScratchFolder {
  const fs::path path = fs::path(testing::TempDir()) / ("stiction_io_test_" + std::to_string(getpid()));
  ScratchFolder() { fs::create_directories(path); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

fs::path scratch(const std::string& name) {
  static const ScratchFolder folder;
  return folder.path / name;
}

fs::path write(const std::string& name, const std::string& bytes) {
  std::ofstream(scratch(name), std::ios::binary) << bytes;
  return scratch(name);
}

std::string error_of(const fs::path& path) {
  try {
    load_problem(path);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

// Awkward numbers on purpose: no short decimal form, denormals, negative zero, infinities.
ContactProblem awkward() {
  std::srand(11);
  const std::vector<int> sizes{2, 3};
  ContactProblem p;
  p.dt = 1.0 / 3.0;
  p.M.reset(sizes);
  for (int k = 0; k < 2; ++k) p.M.block(k) = MatrixXd::Identity(sizes[k], sizes[k]) / 7.0;
  p.M.block(1)(0, 1) = p.M.block(1)(1, 0) = 0.1 * 0.1;
  p.v = VectorXd::Random(5);
  p.v[0] = -0.0;
  p.v[1] = 5e-324;
  p.impulse = VectorXd::Random(5) * 1e300;
  p.J.reset(3, sizes);
  p.J.add_group();
  p.J.add_entry(1) = MatrixXd::Random(3, 3);
  p.J.add_entry(0) = MatrixXd::Random(3, 2);
  p.J.add_group();
  p.J.add_group();
  p.J.add_entry(0) = MatrixXd::Random(3, 2);
  p.mu = Eigen::Vector3d(0.1, kInfinity, 0.0);
  p.restitution = Eigen::Vector3d(0.0, 1.0, 0.3);
  p.gap = Eigen::Vector3d(1e-17, -2.0, 3.0);
  p.prescribed = {4, 1};
  p.v_prescribed = Eigen::Vector2d(0.7, -0.1);
  p.J_b.reset(1, sizes);
  for (int j = 0; j < 2; ++j) {
    p.J_b.add_group();
    p.J_b.add_entry(j) = MatrixXd::Random(1, sizes[j]);
  }
  p.b = Eigen::Vector2d(0.2, 1e-5);
  p.lo = Eigen::Vector2d(-kInfinity, 0.0);
  p.hi = Eigen::Vector2d(kInfinity, 1.0 / 3.0);
  return p;
}

template <class Vector>
void expect_same_bits(const Vector& a, const Vector& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  if (a.size() == 0) return;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())), 0) << what;
}

void expect_same_rows(const BlockRows& a, const BlockRows& b, bool same_entries) {
  EXPECT_TRUE(std::ranges::equal(a.block_sizes(), b.block_sizes()));
  expect_same_bits(a.to_dense(), b.to_dense(), "rows");
  ASSERT_EQ(a.groups(), b.groups());
  for (int g = 0; same_entries && g < a.groups(); ++g) {
    ASSERT_EQ(a.entry_begin(g), b.entry_begin(g));
    for (int e = a.entry_begin(g); e < a.entry_end(g); ++e) EXPECT_EQ(a.entry_block(e), b.entry_block(e));
  }
}

template <class Problem>
void expect_same_laws(const Problem& a, const Problem& b) {
  EXPECT_EQ(a.laws, b.laws);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.row_ids, b.row_ids);
  ASSERT_EQ(a.material.size(), b.material.size());
  for (std::size_t i = 0; i < a.material.size(); ++i) {
    for (const MaterialField& field : kMaterialFields) EXPECT_EQ(a.material[i].*field.member, b.material[i].*field.member) << field.name;
    EXPECT_EQ(a.material[i].spring, b.material[i].spring);
  }
}

// Every field of every contact different.
std::vector<ContactMaterial> distinct_materials(std::size_t n) {
  std::vector<ContactMaterial> out(n);
  double value = 0.0;
  for (ContactMaterial& m : out) {
    for (const MaterialField& field : kMaterialFields) m.*field.member = value += 1.0 / 770.0;
    m.exponent += 1.0;
    m.spring = {-value, 0.1 * value};
  }
  return out;
}

void expect_same(const ContactProblem& a, const ContactProblem& b, bool same_entries) {
  EXPECT_EQ(a.dt, b.dt);
  EXPECT_TRUE(std::ranges::equal(a.M.sizes(), b.M.sizes()));
  expect_same_bits(a.M.to_dense(), b.M.to_dense(), "M");
  expect_same_bits(a.v, b.v, "v");
  expect_same_bits(a.impulse, b.impulse, "impulse");
  expect_same_rows(a.J, b.J, same_entries);
  expect_same_bits(a.mu, b.mu, "mu");
  expect_same_bits(a.restitution, b.restitution, "restitution");
  expect_same_bits(a.gap, b.gap, "gap");
  expect_same_laws(a, b);
  EXPECT_EQ(a.prescribed, b.prescribed);
  expect_same_bits(a.v_prescribed, b.v_prescribed, "v_prescribed");
  expect_same_rows(a.J_b, b.J_b, same_entries);
  EXPECT_EQ(a.row_kinds, b.row_kinds);
  expect_same_bits(a.b, b.b, "b");
  expect_same_bits(a.lo, b.lo, "lo");
  expect_same_bits(a.hi, b.hi, "hi");
  expect_same_bits(a.row_compliance, b.row_compliance, "row_compliance");
}

void expect_same(const ReducedProblem& a, const ReducedProblem& b, bool same_entries) {
  expect_same_rows(a.Rt, b.Rt, same_entries);
  expect_same_bits(a.u_free, b.u_free, "u_free");
  expect_same_bits(a.offset, b.offset, "offset");
  EXPECT_EQ(a.dt, b.dt);
  expect_same_bits(a.gap, b.gap, "gap");
  expect_same_bits(a.u_before, b.u_before, "u_before");
  expect_same_bits(a.restitution, b.restitution, "restitution");
  expect_same_bits(a.edge_angle, b.edge_angle, "edge_angle");
  expect_same_bits(a.weight, b.weight, "weight");
  EXPECT_EQ(a.velocity, b.velocity);
  expect_same_laws(a, b);
  expect_same_bits(a.mu, b.mu, "mu");
  EXPECT_EQ(a.closed, b.closed);
  expect_same_rows(a.Bt, b.Bt, same_entries);
  expect_same_bits(a.w_free, b.w_free, "w_free");
  expect_same_bits(a.lo, b.lo, "lo");
  expect_same_bits(a.hi, b.hi, "hi");
  expect_same_bits(a.y_free, b.y_free, "y_free");
  expect_same_bits(a.defect, b.defect, "defect");
}

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, ContactProblem) {
  const fs::path path = scratch(std::string("problem") + GetParam());
  save_problem(path, awkward());
  // npz holds dense arrays: the order of a contact's blocks is not in them.
  expect_same(awkward(), std::get<ContactProblem>(load_problem(path)), std::string(GetParam()) == ".json");
}

TEST_P(RoundTrip, ReducedProblem) {
  ContactProblem p = awkward();
  p.impulse.setZero();
  Reduction reduction;
  reduce(p, reduction);
  ReducedProblem& reduced = reduction.reduced;
  reduced.defect.setZero(9, 9);
  reduced.defect(3, 4) = 1e-9;
  reduced.weight = Eigen::Vector3d(0.1, 0.0, 1.0 / 3.0);
  reduced.edge_angle = Eigen::Vector3d(-0.1, 2.0 / 3.0, 0.0);
  ASSERT_GT(reduced.velocity, 0.0);
  const fs::path path = scratch(std::string("reduced") + GetParam());
  save_problem(path, reduced);
  expect_same(reduced, std::get<stiction::ReducedProblem>(load_problem(path)), std::string(GetParam()) == ".json");
}

TEST_P(RoundTrip, LawsAndMaterial) {
  ContactProblem p = awkward();
  p.impulse.setZero();
  p.laws = {Law::viscous, Law::hunt_crossley, Law::coulomb_cone};
  p.material = distinct_materials(3);
  const fs::path path = scratch(std::string("laws") + GetParam());
  save_problem(path, p);
  expect_same(p, std::get<ContactProblem>(load_problem(path)), std::string(GetParam()) == ".json");
  Reduction reduction;
  reduce(p, reduction);
  ASSERT_EQ(reduction.reduced.u_before.size(), 9);
  save_problem(path, reduction.reduced);
  expect_same(reduction.reduced, std::get<stiction::ReducedProblem>(load_problem(path)), std::string(GetParam()) == ".json");
}

// Names have 64 bits, of which a double keeps 53.
TEST_P(RoundTrip, Names) {
  ContactProblem p = awkward();
  p.impulse.setZero();
  p.ids = {std::numeric_limits<std::uint64_t>::max(), 0, (std::uint64_t{1} << 53U) + 1};
  for (int j = 0; j < p.bounded_rows(); ++j) p.row_ids.push_back(static_cast<std::uint64_t>(j) + (std::uint64_t{1} << 63U));
  const fs::path path = scratch(std::string("names") + GetParam());
  save_problem(path, p);
  expect_same(p, std::get<ContactProblem>(load_problem(path)), std::string(GetParam()) == ".json");
  Reduction reduction;
  reduce(p, reduction);
  ASSERT_EQ(reduction.reduced.ids.size(), 3u);
  save_problem(path, reduction.reduced);
  expect_same(reduction.reduced, std::get<stiction::ReducedProblem>(load_problem(path)), std::string(GetParam()) == ".json");
}

// Bounds alone do not tell a stop from a motor that only pulls.
TEST_P(RoundTrip, KindsOfRows) {
  ContactProblem p = awkward();
  p.impulse.setZero();
  p.row_compliance = Eigen::Vector2d(0.0, 1.0 / 7.0);
  for (const auto& kinds : {std::vector{RowKind::motor, RowKind::limit}, {RowKind::friction, RowKind::equality}}) {
    p.row_kinds = kinds;
    const fs::path path = scratch(std::string("kinds") + GetParam());
    save_problem(path, p);
    expect_same(p, std::get<ContactProblem>(load_problem(path)), std::string(GetParam()) == ".json");
  }
}

TEST(Json, AByteOrderMarkIsSkipped) {
  const std::string bytes = to_json(awkward());
  expect_same(awkward(), std::get<ContactProblem>(load_problem(write("marked.json", "\xEF\xBB\xBF" + bytes))), true);
}

TEST(Json, KindErrorsSayWhere) {
  ContactProblem p = awkward();
  p.v = VectorXd::Ones(5);
  p.row_kinds = {RowKind::limit, RowKind::motor};
  const auto error = [&](const std::string& replace, const std::string& by) {
    std::string text = to_json(p);
    text.replace(text.find(replace), replace.size(), by);
    return error_of(write("kinds.json", text));
  };
  EXPECT_THAT(error("\"kind\": \"motor\", ", ""), testing::HasSubstr("rows[1]: \"kind\" is given for some only"));
  EXPECT_THAT(error("\"motor\"", "\"engine\""),
              testing::HasSubstr("rows[1].kind: expected equality, limit, friction or motor, got \"engine\""));
}

// What nobody reads would be read as its default.
TEST(Json, OtherKeysAndKeysGivenTwiceAreRefused) {
  ContactProblem p = awkward();
  p.v = VectorXd::Ones(5);
  p.impulse.setZero();
  p.row_compliance = Eigen::Vector2d(0.0, 1.0 / 7.0);
  Reduction reduction;
  reduce(p, reduction);
  const auto error = [&](const auto& problem, const std::string& replace, const std::string& by) {
    std::string text = to_json(problem);
    text.replace(text.find(replace), replace.size(), by);
    return error_of(write("keys.json", text));
  };
  EXPECT_THAT(error(p, "\"v\"", "\"nonsense\": 3, \"v\""),
              testing::HasSubstr("nonsense: unknown key: expected some of format, version, dt, "));
  EXPECT_THAT(error(p, "\"compliance\"", "\"complience\""),
              testing::HasSubstr("rows[0].complience: unknown key: expected some of id, kind, "));
  EXPECT_THAT(error(p, "\"block\"", "\"name\": 1, \"block\""), testing::HasSubstr("contacts[0].J[0].name: unknown key"));
  EXPECT_THAT(error(p, "\"v\"", "\"dt\": 5, \"v\""), testing::HasSubstr(": dt: given twice"));
  EXPECT_THAT(error(p, "\"lo\": 0", "\"lo\": 0, \"b\": 0"), testing::HasSubstr(": rows[1].b: given twice"));
  EXPECT_THAT(error(p, "\"block\"", "\"block\": 0, \"block\""), testing::HasSubstr(": contacts[0].J[0].block: given twice"));
  EXPECT_EQ(error(reduction.reduced, "\"velocity\"", "\"velocity\""), "");
  EXPECT_THAT(error(reduction.reduced, "\"velocity\"", "\"velocities\""), testing::HasSubstr("velocities: unknown key"));
  EXPECT_THAT(error(reduction.reduced, "\"gap\"", "\"gaps\""), testing::HasSubstr("contacts[0].gaps: unknown key"));
  EXPECT_THAT(error(reduction.reduced, "\"w_free\"", "\"kind\": \"motor\", \"w_free\""), testing::HasSubstr("rows[0].kind: unknown key"));
}

TEST(Json, AFileNamedSoIsNoOtherText) {
  const std::string text = "// one step\n" + to_json(awkward());
  EXPECT_THAT(error_of(write("remark.json", text)), testing::AllOf(testing::HasSubstr("line 1"), testing::HasSubstr("invalid literal")));
  EXPECT_THAT(error_of(write("numbers.json", "3 1")), testing::HasSubstr("line 1"));
  EXPECT_THAT(error_of(write("list.json", "[]")), testing::HasSubstr("top level: expected an object"));
}

TEST(Json, NameErrorsSayWhere) {
  ContactProblem p = awkward();
  p.v = VectorXd::Ones(5);
  p.ids = {5, 6, 7};
  const auto error = [&](const std::string& replace, const std::string& by) {
    std::string text = to_json(p);
    text.replace(text.find(replace), replace.size(), by);
    return error_of(write("names.json", text));
  };
  EXPECT_THAT(error("\"id\": 6, ", ""), testing::HasSubstr("contacts[1]: \"id\" is given for some only"));
  EXPECT_THAT(error("\"id\": 6", "\"id\": -6"), testing::HasSubstr("contacts[1].id: expected an integer from 0"));
  EXPECT_THAT(error("\"id\": 6", "\"id\": 5"), testing::HasSubstr("ids[1]: expected a name that nothing before it has, got 5"));
}

TEST_P(RoundTrip, NoContactsNoRows) {
  ContactProblem p = make_contact_problem(MatrixXd::Identity(1, 1), VectorXd::Ones(1), MatrixXd(0, 1), VectorXd(0), 0.5);
  const fs::path path = scratch(std::string("empty") + GetParam());
  save_problem(path, p);
  expect_same(p, std::get<ContactProblem>(load_problem(path)), true);
}

TEST_P(RoundTrip, SameProblemSameBytes) {
  const auto bytes = [] { return std::string(GetParam()) == ".json" ? to_json(awkward()) : to_npz(awkward()); };
  EXPECT_EQ(bytes(), bytes());
}

// Every file cut short, and many with one byte changed, is refused or read: nothing else may happen.
TEST_P(RoundTrip, DamagedFilesNeverCrash) {
  const std::string good = std::string(GetParam()) == ".json" ? to_json(awkward()) : to_npz(awkward());
  const auto survives = [&](const std::string& bytes) {
    try {
      std::string(GetParam()) == ".json" ? parse_json("f", bytes) : parse_npz("f", bytes);
      return true;
    } catch (const FileError&) {
    } catch (const InvalidArgument&) {
    }
    return false;
  };
  ASSERT_TRUE(survives(good));
  const std::size_t step = good.size() / 300 + 1;
  const std::size_t end = std::string(GetParam()) == ".json" ? good.size() - 3 : good.size();  // before the last brace
  for (std::size_t size = 0; size < end; size += step) EXPECT_FALSE(survives(good.substr(0, size))) << size;
  std::mt19937 random(4);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string bytes = good;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    survives(bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, testing::Values(".json", ".npz"));

TEST(Npz, ReadsWhatNumpyWrites) {
  const fs::path data = fs::path(STICTION_SOURCE_DIR) / "src/stiction/io/test_data";
  const ContactProblem p = std::get<ContactProblem>(load_problem(data / "numpy_stored.npz"));
  EXPECT_EQ(p.M.to_dense(), (2.0 * MatrixXd::Identity(3, 3)).eval());
  EXPECT_EQ(p.v, Eigen::Vector3d(-1, 3, 4));
  EXPECT_EQ(p.J.to_dense()(0, 1), 0.25);  // Fortran order
  EXPECT_EQ(p.J.to_dense()(1, 0), 0.0);
  EXPECT_EQ(p.mu[0], 0.5);
  EXPECT_EQ(p.dt, 0.01);
  EXPECT_EQ(p.impulse, Eigen::Vector3d::Zero());
  EXPECT_EQ(p.lo[0], -kInfinity);
  EXPECT_EQ(p.hi[0], 2.5);
  EXPECT_EQ(p.b[0], 0.125);
  EXPECT_EQ(p.prescribed, std::vector<int>{2});
  const ReducedProblem r = std::get<ReducedProblem>(load_problem(data / "numpy_deflated.npz"));
  EXPECT_LT((r.Rt.to_dense() * r.Rt.to_dense().transpose() - MatrixXd(Eigen::Vector3d(1, 2, 3).asDiagonal())).norm(), 1e-15);
  EXPECT_EQ(r.u_free, Eigen::Vector3d(-1, 0, 0));
}

// The saved text with one part replaced, and what the error must say.
struct BadJson {
  const char *replace, *by, *says;
};
class JsonErrors : public testing::TestWithParam<BadJson> {};

TEST_P(JsonErrors, SayWhere) {
  ContactProblem p = awkward();
  p.v = VectorXd::Ones(5);
  std::string text = to_json(p);
  const std::size_t at = text.find(GetParam().replace);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().replace).size(), GetParam().by);
  const fs::path path = write("bad.json", text);
  EXPECT_THAT(error_of(path), testing::AllOf(testing::StartsWith(path.string() + ": "), testing::HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonErrors,
    testing::Values(
        BadJson{"\"dt\": 0.3", "\"dt\": -0.3", "dt: expected a finite number > 0"}, BadJson{"\"dt\"", "\"d\"", "key \"dt\" is missing"},
        BadJson{"\"version\": 1", "\"version\": 99", "version 99 is newer"}, BadJson{"contact problem", "thing", "format: expected"},
        BadJson{"\"v\": [1, 1", "\"v\": [1", "v: expected size 5, got size 4"},
        BadJson{"\"v\": [1", "\"v\": [\"nan\"", "v[0]: expected a number, got nan"}, BadJson{"\"v\": [1", "\"v\": [NaN", "line 14"},
        BadJson{"\"v\": [1", "\"v\": [\"inf\"", "v[0]: expected a finite number"}, BadJson{"\"v\": [1", "\"v\": [1e999", "number overflow"},
        BadJson{"\"mu\": 0.1", "\"mu\": \"nan\"", "contacts[0].mu"}, BadJson{"\"mu\": 0.1", "\"mu\": -1", "mu[0]: expected"},
        BadJson{"\"mu\": 0.1", "\"mu\": null", "contacts[0].mu"},
        BadJson{"\"block\": 1", "\"block\": 2", "contacts[0].J[0].block: expected an integer from 0 to 1"},
        BadJson{"\"blocks\": [2, 3]", "\"blocks\": [2, 1000000]", "M[1]: expected 1000000 rows, got 3"},
        BadJson{"\"blocks\": [2, 3]", "\"blocks\": {}", "blocks: expected a list"},
        BadJson{"\"prescribed\": [4, 1]", "\"prescribed\": [1, 1]", "each coordinate at most once"},
        BadJson{"\"prescribed\": [4, 1]", "\"prescribed\": [5, 1]", "prescribed[0]: expected an integer from 0 to 4"},
        BadJson{"\"lo\": \"-inf\"", "\"lo\": \"inf\"", "lo[0], hi[0]"}));

TEST(Json, LawsAndMaterialErrorsSayWhere) {
  ContactProblem p = awkward();
  p.v = VectorXd::Ones(5);
  p.laws.assign(3, Law::viscous);
  p.material.resize(3);
  const auto error = [&](const std::string& replace, const std::string& by) {
    std::string text = to_json(p);
    text.replace(text.find(replace), replace.size(), by);
    return error_of(write("laws.json", text));
  };
  EXPECT_EQ(error("viscous", "viscous"), "");
  EXPECT_THAT(error("viscous", "sticky"), testing::HasSubstr("contacts[0].law: expected one of frictionless"));
  EXPECT_THAT(error("\"law\": \"viscous\", ", ""), testing::HasSubstr("contacts[1]: \"law\" is given for some contacts only"));
  EXPECT_THAT(error("\"material\"", "\"matter\""), testing::HasSubstr("contacts[0].matter: unknown key: expected some of mu, "));
  std::string lacking = to_json(p);
  const std::size_t material = lacking.find("\"material\"");
  lacking.erase(material, lacking.find("}, ", material) + 3 - material);
  EXPECT_THAT(error_of(write("laws.json", lacking)), testing::HasSubstr("contacts[1]: \"material\" is given for some contacts only"));
  EXPECT_THAT(error("viscosity", "viscousness"), testing::HasSubstr("contacts[0].material.viscousness: unknown material parameter"));
  EXPECT_THAT(error("\"viscosity\": 0", "\"viscosity\": -1"), testing::HasSubstr("material[0].viscosity: expected a finite number >= 0"));
  EXPECT_THAT(error("\"exponent\": 1", "\"exponent\": 0.5"),
              testing::HasSubstr("material[0].exponent: expected a finite number >= 1, got 0.5"));
  EXPECT_EQ(error("\"friction_angle\": 0", "\"friction_angle\": -0.5"), "");
  EXPECT_THAT(error("\"spring\": [0, ", "\"spring\": ["), testing::HasSubstr("contacts[0].material.spring: expected 2 numbers, got 1"));
}

TEST(Load, RefusesWhatIsNoProblem) {
  EXPECT_THAT(error_of(scratch("absent.json")), testing::HasSubstr("no such file"));
  EXPECT_THAT(error_of(testing::TempDir()), testing::HasSubstr("a folder, not a file"));
  EXPECT_THAT(error_of(write("empty.json", "")), testing::HasSubstr("empty"));
  EXPECT_THAT(error_of(write("white.json", " \n\n ")), testing::HasSubstr("empty"));
  EXPECT_THAT(error_of(write("list.json", "{\"a\": [1, 2]")), testing::HasSubstr("line 1"));
  EXPECT_THAT(error_of(write("prose.txt", "Dear all,")), testing::HasSubstr("line 1"));
  EXPECT_THAT(error_of(write("zip.npz", "PK\x03\x04 and nothing more, sadly")), testing::HasSubstr("zip: Not a zip archive"));
  EXPECT_THROW(save_problem(scratch("problem.txt"), awkward()), InvalidArgument);
  EXPECT_THROW(save_problem("/nonexistent-folder/problem.json", awkward()), FileError);
}

std::string array(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", descr, shape);
  std::string out = "\x93NUMPY";
  out += {'\1', '\0', static_cast<char>(header.size()), '\0'};
  return out + header + data;
}

TEST(Npz, ErrorsNameTheArray) {
  const std::string three(24, '\0'), nine(72, '\0'), one(8, '\0');
  std::string identity = nine;
  for (std::size_t i = 0; i < 3; ++i) identity.replace(32 * i + 6, 2, "\xf0\x3f");  // 1.0
  const auto load = [&](const std::vector<ZipMember>& members) { return error_of(write("bad.npz", write_zip(members))); };
  const ZipMember q{"q.npy", array("<f8", "(3,)", three)}, mu{"mu.npy", array("<f8", "(1,)", one)},
      W{"W.npy", array("<f8", "(3, 3)", nine)};
  EXPECT_EQ(load({W, q, mu}), "");
  EXPECT_THAT(load({W, {"q.npy", array("<U2", "(3,)", three)}, mu}), testing::HasSubstr("q: expected numbers, got words"));
  const ZipMember Rt{"Rt.npy", array("<f8", "(3, 3)", nine)}, u{"u_free.npy", array("<f8", "(3,)", three)};
  EXPECT_EQ(load({Rt, u, mu, {"laws.npy", array("|S7", "(1,)", "viscous")}}), "");
  EXPECT_EQ(load({Rt, u, mu, {"ids.npy", array("|S2", "(1,)", "42")}}), "");
  EXPECT_THAT(load({Rt, u, mu, {"ids.npy", array("|S2", "(1,)", "4x")}}), testing::HasSubstr("ids: expected integers from 0"));
  EXPECT_THAT(load({Rt, u, mu, {"laws.npy", array("|S6", "(1,)", "sticky")}}), testing::HasSubstr("laws: expected some of frictionless"));
  EXPECT_THAT(load({Rt, u, mu, {"laws.npy", array("|S7", "(2,)", "viscousviscous")}}), testing::HasSubstr("laws: expected 1 words"));
  EXPECT_THAT(load({Rt, u, mu, {"laws.npy", array("<U7", "(1,)", "viscous")}}), testing::HasSubstr("laws: the array is truncated"));
  EXPECT_THAT(load({Rt, u, mu, {"material_viscosity.npy", array("<f8", "(3,)", three)}}),
              testing::HasSubstr("material_viscosity: expected size 1, got 3"));
  EXPECT_THAT(load({q, mu}), testing::HasSubstr("expected arrays M, v, J, mu, or W, q, mu"));
  EXPECT_THAT(load({W, mu}), testing::HasSubstr("q: this array is missing"));
  EXPECT_THAT(load({{"W.npy", array("<f8", "(3, 2)", nine)}, q, mu}), testing::HasSubstr("W: expected 3 x 3, got 3 x 2"));
  EXPECT_THAT(load({{"W.npy", array("<f8", "(9,)", nine)}, q, mu}), testing::HasSubstr("W: expected a matrix"));
  EXPECT_THAT(load({{"W.npy", array("<f8", "(3, 4)", nine)}, q, mu}), testing::HasSubstr("W: the array is truncated"));
  EXPECT_THAT(load({{"W.npy", array("<f8", "(99999999999999999999, 4)", nine)}, q, mu}), testing::HasSubstr("W: the shape is too large"));
  EXPECT_THAT(load({W, q, mu, {"gap.npy", array("<f8", "(1,)", one)}}),
              testing::HasSubstr("gap: unknown array: expected some of mu, W, q"));
  EXPECT_THAT(load({Rt, u, mu, {"gaps.npy", array("<f8", "(1,)", one)}}),
              testing::HasSubstr("gaps: unknown array: expected some of Rt, mu, Bt, blocks, u_free, offset, dt, gap, "));
  const ZipMember M{"M.npy", array("<f8", "(3, 3)", identity)}, J{"J.npy", array("<f8", "(3, 3)", identity)},
      v{"v.npy", array("<f8", "(3,)", three)};
  EXPECT_EQ(load({M, v, J, mu, {"gap.npy", array("<f8", "(1,)", one)}}), "");
  EXPECT_THAT(load({M, v, J, mu, {"gaps.npy", array("<f8", "(1,)", one)}}),
              testing::HasSubstr("gaps: unknown array: expected some of M, mu, blocks, dt, v, impulse, J, restitution, gap, laws, "));
  EXPECT_THAT(
      load({{"W.npy", array("<f2", "(3, 3)", nine)}, q, mu}),
      testing::HasSubstr("W: arrays of type '<f2' are not supported, only little-endian floats of 4 or 8 bytes, integers and booleans"));
  EXPECT_THAT(load({{"W.npy", array("|O", "(3, 3)", nine)}, q, mu}), testing::HasSubstr("W: arrays of type"));
  EXPECT_THAT(load({{"W.npy", array(">f8", "(3, 3)", nine)}, q, mu}), testing::HasSubstr("W: arrays of type"));
  EXPECT_THAT(load({{"W.npy", "short"}, q, mu}), testing::HasSubstr("W: not a numpy array"));
  EXPECT_THAT(load({{"W.npy", array("<f8", "3", nine)}, q, mu}), testing::HasSubstr("W: the array header has no shape"));
}

// Whatever byte changes on the way, what is read is what was written, or nothing.
TEST(Zip, DamageIsFound) {
  std::mt19937 random(7);
  std::string noise(200, 0);
  for (char& c : noise) c = static_cast<char>(random());
  const std::vector<ZipMember> members{{"deflated.npy", std::string(300, 'x')}, {"noise.npy", noise}, {"empty.npy", ""}};
  const std::string good = write_zip(members);
  const auto damaged = [&](const std::string& bytes) {
    const auto same = [](const ZipMember& a, const ZipMember& b) { return a.bytes == b.bytes; };
    try {
      EXPECT_TRUE(std::ranges::equal(read_zip("f", bytes), members, same));
    } catch (const FileError&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(damaged(good));
  int found = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 + random() % 255));
    found += damaged(bytes) ? 1 : 0;
  }
  EXPECT_GT(found, static_cast<int>(noise.size()));
  EXPECT_THROW(write_zip({members[0], members[0]}), InvalidArgument);
}

// The best compression takes far longer than a run that it writes. PKWARE's APPNOTE 4.4.4: of the flags, bit 2
// is fast compression, bit 1 the best.
TEST(Zip, MembersAreDeflatedFast) {
  const std::string zip = write_zip({{"a.npy", std::string(300, 'x')}});
  EXPECT_EQ(zip[8], 8);  // deflated
  EXPECT_EQ(zip[6] & 0b110, 0b100);
}

// Two entries of the directory for one member: a small file that expands without end.
TEST(Zip, MembersThatOverlapAreRefused) {
  std::string noise(1000, 0);
  std::mt19937 random(8);
  for (char& c : noise) c = static_cast<char>(random());
  std::string zip = write_zip({{"a.npy", noise}});
  const std::size_t directory = zip.rfind("PK\x01\x02"), end = zip.rfind("PK\x05\x06");
  const std::string entry = zip.substr(directory, end - directory);
  zip.insert(end, entry);
  const std::size_t last = end + entry.size();
  zip[last + 8] = zip[last + 10] = 2;
  for (std::size_t i = 0; i < 2; ++i) zip[last + 12 + i] = static_cast<char>(2 * entry.size() >> 8 * i);
  EXPECT_THROW(read_zip("f", zip), FileError);
}

// A few hundred bytes must not turn into gigabytes.
TEST(Npz, ImpossibleSizesAreRefusedBeforeMemoryIsAsked) {
  std::string zip = write_zip({{"W.npy", std::string(1000, 'x')}});
  for (const std::size_t size :
       {zip.find("PK\x03\x04") + 22, zip.rfind("PK\x01\x02") + 24}) {  // of the member, in its header and in the directory
    for (std::size_t i = 0; i < 4; ++i) zip[size + i] = static_cast<char>(i == 3 ? 0x7f : 0xff);
  }
  EXPECT_THAT(error_of(write("bomb.npz", zip)), testing::HasSubstr("the declared size is impossible"));
}

}  // namespace
}  // namespace stiction::problem_file_test
