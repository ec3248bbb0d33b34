// Ten scenes to the last bit: hashes of positions, velocities and impulses of every step, the same for any number of threads and in every
// run. The hashes stored here are those of x86-64 without fused multiply-add, GCC 12 at -O2, and a C library whose functions have the bits
// of `arithmetic`; elsewhere rounding differs, and run is compared with run alone. Where a change of the engine is meant to change bits,
// the table that a failure prints takes the place of the one here.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stiction/forward/test_worlds.hpp"
#include "stiction/sim/scene.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction::golden_hashes_test {
namespace {

using Eigen::VectorXd;

/// FNV-1a of 64 bits over the bytes of numbers.
class Hash {
 public:
  void add(double x) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    for (int k = 0; k < 64; k += 8) value_ = (value_ ^ ((bits >> k) & 0xff)) * 0x100000001b3ULL;
  }
  template <class Vector>
  void add_all(const Vector& x) {
    for (Eigen::Index i = 0; i < x.size(); ++i) add(x[i]);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

struct Golden {
  const char* name;
  const char* scene;  // file, or "heap"
  Law law;
  Scheme scheme;
  int steps;
  std::uint64_t hash;
};

constexpr std::array kGolden{
    Golden{"box_on_incline", "incline", Law::coulomb_cone, Scheme::semi_implicit_euler, 300, 0xffc0dba85dce659eULL},
    Golden{"box_on_incline_midpoint", "incline", Law::coulomb_pyramid, Scheme::moreau_midpoint, 300, 0x6eb0b693f8e6439bULL},
    Golden{"ball_bounces", "bounce", Law::coulomb_cone, Scheme::semi_implicit_euler, 2000, 0xcdd452ff8f5b48e0ULL},
    Golden{"ball_bounces_by_events", "bounce", Law::coulomb_cone, Scheme::event_driven, 300, 0x655a2787ea5ea38dULL},
    Golden{"stack", "stack", Law::coulomb_cone, Scheme::semi_implicit_euler, 200, 0x4620a8ff6a2d343ULL},
    Golden{"stack_soft", "stack", Law::stick_slip_spring, Scheme::semi_implicit_euler, 200, 0xe65c8a2f2876a835ULL},
    Golden{"quadruped", "quadruped", Law::coulomb_cone, Scheme::semi_implicit_euler, 300, 0xb231f07a358194edULL},
    Golden{"stairs", "terrain", Law::coulomb_cone, Scheme::semi_implicit_euler, 300, 0xebbdbd492ec32c8eULL},
    Golden{"heap", "heap", Law::coulomb_pyramid, Scheme::semi_implicit_euler, 250, 0xa9020d8529f4768dULL},
    Golden{"heap_energy_momentum", "heap", Law::anitescu, Scheme::energy_momentum, 150, 0xd84005230257ebf7ULL},
};

Scene heap() {
  Scene scene;
  scene.world = falling_boxes(8);
  scene.start = initial_state(scene.world);
  scene.options.assemble.dt = 2e-3;
  return scene;
}

Scene make(const Golden& g) {
  Scene scene = std::string_view(g.scene) == "heap" ? heap() : load_scene(g.scene);
  scene.options.contact.law = g.law;
  scene.options.scheme = g.scheme;
  if (g.law != Law::stick_slip_spring) return scene;
  ContactMaterial rubber;
  rubber.stiffness = rubber.stiffness_tangential = 1e5;
  rubber.damping = rubber.damping_tangential = 100.0;
  scene.options.assemble.material = rubber;
  return scene;
}

std::uint64_t hash_of_run(const Golden& g, int threads) {
  Scene scene = make(g);
  scene.options.contact.threads = threads;
  Simulation simulation(scene);
  Hash hash;
  VectorXd tau = VectorXd::Zero(scene.world.nv());
  for (int k = 0; k < g.steps; ++k) {
    scene.held_torques(simulation.state(), tau);
    EXPECT_TRUE(simulation.step(tau).accepted) << g.name << " " << k;
    hash.add_all(simulation.state().q);
    hash.add_all(simulation.state().v);
    hash.add_all(simulation.stepper().solution().impulses);
  }
  return hash.value();
}

// What the C library makes of arguments all over the place: its functions are not correctly rounded, and differ by version and processor.
std::uint64_t arithmetic() {
  Hash hash;
  for (int k = 1; k <= 1000; ++k) {
    const volatile double x = 0.01 * k;
    for (const double y :
         {std::sin(x), std::cos(x), std::tan(x), std::exp(-x), std::log(x), std::pow(x, 1.5), std::atan2(x, 1.0), std::acos(0.1 * x)})
      hash.add(y);
  }
  return hash.value();
}
constexpr std::uint64_t kArithmetic = 0x54d1f5fc20128c2ULL;

bool stored_hashes_hold() {
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ == 12 && !defined(__clang__) && defined(__OPTIMIZE__) && defined(NDEBUG) && \
    !defined(__FMA__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  return arithmetic() == kArithmetic;
#else
  return false;
#endif
}

TEST(GoldenHashes, DependOnNeitherThreadsNorRun) {
  std::string table;
  bool as_stored = true;
  for (const Golden& g : kGolden) {
    const std::uint64_t hash = hash_of_run(g, 1);
    for (const int threads : {1, 2, 8}) EXPECT_EQ(hash_of_run(g, threads), hash) << g.name << ", threads: " << threads;
    as_stored = as_stored && hash == g.hash;
    table += fmt::format("  {} {:#x}\n", g.name, hash);
  }
  if (!stored_hashes_hold())
    GTEST_SKIP() << "runs agree; stored hashes are of another arithmetic than " << fmt::format("{:#x}", arithmetic());
  EXPECT_TRUE(as_stored) << "now:\n" << table;
}

}  // namespace
}  // namespace stiction::golden_hashes_test
