// Problems that were saved because an answer to them was wrong or missed: what the default path makes of them now.
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include "stiction/inverse/inverse_dynamics.hpp"
#include "stiction/io/problem_file.hpp"
#include "test_paths.hpp"

namespace stiction::saved_problems_test {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(STICTION_SOURCE_DIR) / "../shared/data/failing";

ContactProblem load(const std::string& name) { return std::get<ContactProblem>(load_problem(kFolder / name)); }

#define SKIP_WITHOUT_FILES() \
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no files in " << kFolder

struct Reached {
  const char* file;
  Law law;
  double worst;  ///< residual: 1e-9 is solved, more is a status that says so
};

class SavedProblem : public testing::TestWithParam<Reached> {};

TEST_P(SavedProblem, IsSolvedOrSaysWhatItMissed) {
  SKIP_WITHOUT_FILES();
  SolveOptions options;
  options.law = GetParam().law;
  const Solution s = solve(load(GetParam().file), options);
  EXPECT_EQ(s.status == Status::solved, s.certificate.worst() <= 1e-9);
  EXPECT_LE(s.certificate.worst(), GetParam().worst);
}

INSTANTIATE_TEST_SUITE_P(
    Files, SavedProblem,
    // Feet whose corners are apart by 1e-12 m slip by 1e-10 m/s or not at all: the last bits decide between 1e-10 and 5e-9.
    testing::Values(Reached{"fail_feet_centauro.json", Law::coulomb_cone, 1e-8},
                    Reached{"fail_feet_centauro.json", Law::coulomb_pyramid, 1e-9}, Reached{"fail_talos.json", Law::coulomb_cone, 1e-9},
                    Reached{"fail_talos.json", Law::coulomb_pyramid, 1e-9}, Reached{"fail_tiago.json", Law::coulomb_cone, 1e-8},
                    Reached{"fail_tiago.json", Law::coulomb_pyramid, 1e-8}, Reached{"pile_sphere.npz", Law::coulomb_cone, 1e-9},
                    Reached{"pile_sphere.npz", Law::coulomb_pyramid, 1e-9}, Reached{"pile_box.npz", Law::coulomb_cone, 1e-9},
                    Reached{"pile_box.npz", Law::coulomb_pyramid, 1e-9}));

// A wrist link lies on the ground while the arm pushes a box: what the ground does to a driven arm moves nothing, so it is nothing.
TEST(SavedInverse, TorquesOfAnArmThatLiesOnTheGroundAreBounded) {
  SKIP_WITHOUT_FILES();
  const struct {
    const char* file;
    std::vector<double> v;
    double torque;  // N m, least norm
  } cases[] = {
      {"ur5_1120.json",
       {-0.0268586356362005, 0.4341375389947677, -0.5515859916887367, 0.35266162863621275, 0.027734457228136833, -3.3890485676646794e-14},
       39.6},
      {"ur5_1119.json",
       {-0.026862423955845705, 0.4342416858760978, -0.5516555011729807, 0.3527152964159619, 0.027738369079393088, 3.6338171599171697e-13},
       28.6}};
  const std::vector<int> joints{0, 1, 2, 3, 4, 5};
  for (const auto& c : cases) {
    for (const Law law : {Law::coulomb_cone, Law::coulomb_pyramid}) {
      InverseOptions options;
      options.contact.law = law;
      const InverseSolution s = inverse_dynamics(load(c.file), joints, Eigen::Map<const Eigen::VectorXd>(c.v.data(), 6), {}, options);
      EXPECT_EQ(s.status, Status::solved) << c.file;
      EXPECT_NEAR(s.tau.cwiseAbs().maxCoeff(), c.torque, 0.5) << c.file;
    }
  }
}

TEST(SavedInverse, ZeroIsExact) {
  SKIP_WITHOUT_FILES();
  ContactProblem p = load("stage_two_zero_impulse.npz");
  const std::vector<int> joints = std::exchange(p.prescribed, {});
  const Eigen::VectorXd v_desired = p.v_prescribed;
  p.v_prescribed.resize(0);
  InverseOptions options;
  options.contact.law = Law::max_dissipation;
  options.choice = Choice::least_torque;
  const InverseSolution s = inverse_dynamics(p, joints, v_desired, {}, options);
  EXPECT_EQ(s.status, Status::solved);
  EXPECT_LT(s.certificate.worst(), 1e-9);
}

}  // namespace
}  // namespace stiction::saved_problems_test
