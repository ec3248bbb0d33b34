// Which geometries may collide, by the rules of each format. The rules of MJCF are checked against MuJoCo itself in
// python/tests/test_collision_pairs.py.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/robots_for_test.hpp"
#include "stiction/model/srdf.hpp"
#include "stiction/model/world.hpp"

namespace stiction::collision_pairs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// A chain of spheres hanging from `root`: root - first - bare (no shape) - last, and `pad` fixed to `last`.
std::string chain() {
  const auto link = [](const std::string& name, bool has_shape) {
    return R"(<link name=")" + name +
           R"("><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>)" +
           (has_shape ? R"(<collision><geometry><sphere radius="0.1"/></geometry></collision>)" : "") + "</link>";
  };
  const auto joint = [](const std::string& parent, const std::string& child, const std::string& type) {
    return R"(<joint name=")" + child + R"(_joint" type=")" + type + R"("><parent link=")" + parent + R"("/><child link=")" + child +
           R"("/></joint>)";
  };
  return R"(<robot name="chain">)" + link("root", true) + link("first", true) + link("bare", false) + link("last", true) +
         link("pad", true) + joint("root", "first", "continuous") + joint("first", "bare", "continuous") +
         joint("bare", "last", "continuous") + joint("last", "pad", "fixed") + "</robot>";
}

using NamedPairs = std::vector<std::pair<std::string, std::string>>;

NamedPairs excluded(const World& world) {
  NamedPairs names;
  const auto link = [&](int g) { return world.links()[world.geometries()[g].link].name; };
  for (const auto& [a, b] : world.excluded_geometries()) names.emplace_back(link(a), link(b));
  return names;
}

World load(const std::string& text, const RobotOptions& options = {}) {
  WorldBuilder builder;
  builder.add_robot_text(text, options);
  return builder.build();
}

struct Folder {
  std::filesystem::path path;
  explicit Folder(const std::string& name) : path(std::filesystem::temp_directory_path() / ("stiction_" + name)) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path / "robots");
    std::filesystem::create_directories(path / "srdf");
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

TEST(CollisionPairs, NeighboursOfAUrdfAreTheNearestWithShapes) {
  EXPECT_THAT(excluded(load(chain())), ElementsAre(Pair("root", "first"), Pair("first", "last"), Pair("first", "pad")));
}

TEST(CollisionPairs, AllLinksOfAUrdfAreOneTree) {
  const World world = load(chain());
  for (const Link& link : world.links()) EXPECT_EQ(link.tree, 0);
}

TEST(CollisionPairs, TreesOfAnMjcfAreTheChildrenOfItsWorld) {
  const World world = load(R"(<mujoco><worldbody><geom size="1"/><body name="a"><geom size="1"/><body name="b"><joint/>
      <geom size="1"/></body></body><body name="c"><freejoint/><geom size="1"/></body></worldbody></mujoco>)");
  const auto tree = [&](const char* name) { return world.links()[world.link(name)].tree; };
  EXPECT_EQ(tree("world"), -1);
  EXPECT_EQ(tree("a"), world.link("a"));
  EXPECT_EQ(tree("b"), world.link("a"));
  EXPECT_EQ(tree("c"), world.link("c"));
}

TEST(CollisionPairs, AnMjcfBodyWithoutShapesStillIsAParent) {
  const char* text = R"(<mujoco><worldbody><body name="a"><freejoint/><geom size="1"/><body name="bare"><joint/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><body name="b"><joint/><geom size="1"/></body></body></body></worldbody></mujoco>)";
  EXPECT_THAT(excluded(load(text)), IsEmpty());
}

TEST(CollisionPairs, TheParentFilterCanBeTurnedOff) {
  const std::string bodies =
      R"(<worldbody><body name="a"><freejoint/><geom size="1"/><body name="b"><joint/><geom size="1"/></body></body></worldbody>)";
  EXPECT_THAT(excluded(load("<mujoco>" + bodies + "</mujoco>")), ElementsAre(Pair("a", "b")));
  EXPECT_THAT(excluded(load(R"(<mujoco><option><flag filterparent="disable"/></option>)" + bodies + "</mujoco>")), IsEmpty());
}

TEST(CollisionPairs, DeclaredPairsOfAnMjcf) {
  const World world = load(R"(<mujoco><worldbody><geom name="seen" type="box" size="1 1 1" contype="0" conaffinity="0"/>
      <body><freejoint/><geom name="ball" size="1" friction="0.4"/></body>
      <body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom name="eye" size="1" contype="0" conaffinity="0" friction="0.2"/>
      <geom name="nowhere" size="1" contype="0" conaffinity="0"/></body></worldbody>
      <contact><pair geom1="seen" geom2="ball" friction="0.3 0.3" margin="0.01"/><pair geom1="ball" geom2="seen" condim="1"/>
      <pair geom1="ball" geom2="eye"/></contact></mujoco>)");
  ASSERT_EQ(world.geometries().size(), 3u);  // what no pair names and no flag lets collide is not kept
  ASSERT_EQ(world.declared_pairs().size(), 3u);
  EXPECT_EQ(world.declared_pairs()[0].a, 0);
  EXPECT_EQ(world.declared_pairs()[0].b, 1);
  EXPECT_EQ(world.declared_pairs()[0].friction, 0.3);
  EXPECT_EQ(world.declared_pairs()[1].friction, 0.0);
  EXPECT_EQ(world.declared_pairs()[2].friction, 1.0);  // as in MuJoCo, whatever its geoms have
  EXPECT_THAT(world.robots()[0].warnings, ElementsAre(HasSubstr("margin")));
}

TEST(CollisionPairs, ADeclaredPairOfAnUnknownGeomIsAnError) {
  const char* text = R"(<mujoco><worldbody><body><freejoint/><geom name="ball" size="1"/></body></worldbody>
<contact><pair geom1="ball" geom2="box"/></contact></mujoco>)";
  try {
    load(text);
    ADD_FAILURE() << "an unknown geom was accepted";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 2, <pair>: names the unknown geom 'box'"));
  }
}

TEST(CollisionPairs, BuilderExcludesBodiesAndLinks) {
  WorldBuilder builder;
  builder.add_robot_text(chain());
  builder.add_free_body(
      {"ball", 1.0, Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero(), Eigen::Isometry3d::Identity(), {{Sphere{0.1}}}});
  builder.exclude("chain/pad", "ball");  // a link
  builder.exclude("last", "root");       // a body: the pad is fixed to it
  const World world = builder.build();
  const std::vector<std::pair<int, int>> expected{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {3, 4}};
  EXPECT_EQ(std::vector(world.excluded_geometries().begin(), world.excluded_geometries().end()), expected);
  try {
    builder.exclude("root", "nobody");
    ADD_FAILURE() << "an unknown body was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("'nobody'"));
  }
  try {
    builder.exclude("root", "root");
    ADD_FAILURE() << "a body was excluded from itself";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "b: expected another body than a, got 'root'");
  }
}

TEST(Srdf, DisabledPairsAreOfLinksNotBodies) {
  const Folder folder("srdf_pairs");
  RobotOptions options;
  options.srdf = folder.write("a.srdf", R"(<robot name="chain"><disable_collisions link1="pad" link2="root" reason="Never"/></robot>)");
  EXPECT_THAT(excluded(load(chain(), options)),
              ElementsAre(Pair("root", "first"), Pair("root", "pad"), Pair("first", "last"), Pair("first", "pad")));
}

TEST(Srdf, DefaultsOfALinkCanBeTakenBack) {
  const Folder folder("srdf_defaults");
  RobotOptions options;
  options.srdf = folder.write("a.srdf", R"(<robot name="chain"><disable_default_collisions link="root"/>
    <enable_collisions link1="root" link2="last"/></robot>)");
  EXPECT_THAT(excluded(load(chain(), options)),
              ElementsAre(Pair("root", "first"), Pair("root", "pad"), Pair("first", "last"), Pair("first", "pad")));
}

TEST(Srdf, UnknownLinksAreWarningsWithTheirLine) {
  const Folder folder("srdf_unknown");
  RobotOptions options;
  options.srdf = folder.write("a.srdf",
                              "<robot name=\"chain\">\n<disable_collisions link1=\"hand\" link2=\"root\"/>\n"
                              "<disable_collisions link1=\"hand\" link2=\"pad\"/></robot>");
  EXPECT_THAT(load(chain(), options).robots()[0].warnings, ElementsAre(HasSubstr("a.srdf:2: link 'hand'")));
}

TEST(Srdf, BadXmlIsAnErrorWithItsLine) {
  const Folder folder("srdf_bad");
  RobotOptions options;
  options.srdf = folder.write("a.srdf", "<robot name=\"chain\">\n<disable_collisions link1=\"root\"/></robot>");
  try {
    load(chain(), options);
    ADD_FAILURE() << "half a pair was accepted";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.srdf: line 2, <disable_collisions>"));
  }
  folder.write("a.srdf", "<robot name=\"chain\">\n<group></robot>");
  EXPECT_THROW(load(chain(), options), FileError);
  options.srdf = (folder.path / "none.srdf").string();
  EXPECT_THROW(load(chain(), options), FileError);
}

TEST(Srdf, TheFileBesideAUrdfIsFound) {
  const Folder folder("srdf_find");
  const std::string urdf = folder.write("robots/solo12.urdf", chain());
  EXPECT_EQ(find_srdf(urdf, "solo"), "");
  folder.write("srdf/other.srdf", R"(<robot name="other"/>)");
  EXPECT_EQ(find_srdf(urdf, "solo"), "");
  const std::string named = folder.write("srdf/legs.srdf", R"(<robot name="solo"/>)");
  EXPECT_EQ(find_srdf(urdf, "solo"), named);
  const std::string begun = folder.write("srdf/so.srdf", "");
  EXPECT_EQ(find_srdf(urdf, "solo"), begun);
  const std::string longer = folder.write("srdf/solo.srdf", "");
  EXPECT_EQ(find_srdf(urdf, "solo"), longer);
  const std::string here = folder.write("robots/solo12.srdf", "");
  EXPECT_EQ(find_srdf(urdf, "solo"), here);
  EXPECT_EQ(find_srdf("<text>", "solo"), "");
}

TEST(Srdf, IsReadByDefaultAndNotWhenTold) {
  const Folder folder("srdf_default");
  const std::string urdf = folder.write("robots/chain.urdf", chain());
  folder.write("srdf/chain.srdf", R"(<robot name="chain"><disable_collisions link1="last" link2="root"/></robot>)");
  const auto count = [&](const RobotOptions& options) {
    WorldBuilder builder;
    builder.add_robot(urdf, options);
    return builder.build().excluded_geometries().size();
  };
  EXPECT_EQ(count({}), 4u);
  RobotOptions without;
  without.srdf = "";
  EXPECT_EQ(count(without), 3u);
}

/// Every SRDF of the example robots belongs to some URDF there by the rule of `find_srdf`; these are the ones that matter most.
TEST(Srdf, ExampleRobotsFindTheirs) {
  const auto found = [](const std::string& file, const std::string& name) {
    return std::filesystem::path(find_srdf(std::string(EXAMPLE_ROBOT_DATA) + "/" + file, name)).filename().string();
  };
  EXPECT_EQ(found("talos_data/robots/talos_full_v2.urdf", "talos"), "talos.srdf");
  EXPECT_EQ(found("solo_description/robots/solo12.urdf", "solo"), "solo.srdf");
  EXPECT_EQ(found("baxter_description/urdf/baxter.urdf", "baxter"), "baxter_manipulation.srdf");
  EXPECT_EQ(found("ur_description/urdf/ur5_robot.urdf", "ur5"), "ur5.srdf");
  EXPECT_EQ(found("anymal_b_simple_description/robots/anymal-kinova.urdf", "anymal"), "anymal-kinova.srdf");
  EXPECT_EQ(found("tiago_description/robots/tiago.urdf", "tiago"), "");
}

}  // namespace
}  // namespace stiction::collision_pairs_test
