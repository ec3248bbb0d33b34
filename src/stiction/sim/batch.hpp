// Runs of one world side by side, a few steps at a time, on threads that stay: what learners ask for between two of their decisions.
//
// Every run has the bits of a `Simulation` that is restarted and stepped alone, for any number of threads. After `step` and `restart` the
// arrays hold, one row per run, the state and what is asked about it at that state; contact forces are means over the last step.
// With the frame C at the centre of mass of all that moves (world axes), per link, as MuJoCo's cinert, cvel and cfrc_ext:
//   inertia   [Ixx Iyy Izz Ixy Ixz Iyz  m c  m]     about C, c the link's centre of mass from C (kg m², kg m, kg)
//   velocity  [ω, velocity of the link's point at C]  (rad/s, m/s)
//   wrench    [moment about C, force]               of contacts on the link (N m, N)
// Cost: one copy of the stepper per run; a step costs what it costs alone, and the positions of the bodies once more at its end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/blocks.hpp"
#include "stiction/sim/simulation.hpp"

namespace stiction {

class Team;

/// Mass and inertia of a link, in its own frame. Links joined by fixed joints are one body of the world; only the robot's file has its
/// parts.
struct LinkInertia {
  double mass = 0.0;                                  ///< kg
  Eigen::Vector3d com = Eigen::Vector3d::Zero();      ///< m
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about com (kg m²)
};

struct BatchOptions {
  int runs = 1;                         ///< >= 1
  int threads = 1;                      ///< >= 1; no more than there are runs are used
  std::vector<LinkInertia> links = {};  ///< one per World::links, or none: then inertias and velocities stay empty
};

class Batch {
 public:
  /// Fills tau (nv, zero when it is called) for all steps of run i; may set its drives. Called from several threads, once per run.
  using Command = std::function<void(int run, Simulation& simulation, Eigen::VectorXd& tau)>;

  /// All runs begin at `start`; the stepper is copied. Throws InvalidArgument.
  Batch(const Stepper& stepper, const State& start, const BatchOptions& options);
  ~Batch();

  int runs() const { return static_cast<int>(q.rows()); }
  const World& world() const;
  /// Throws InvalidArgument on sizes that are not the world's.
  void restart(int run, const State& state);
  /// `repeat` steps of every run. One that is refused ends that run's part; it stays where it was. So does one that throws (`errors`);
  /// where that of every run did, the first is thrown. `poll`: called by the calling thread every 50 ms or so. What it or a command throws
  /// ends every run's part after the step under way, and is thrown when the arrays hold what was reached.
  void step(int repeat, const Command& command, const std::function<void()>& poll = {});
  /// All that later steps depend on beside the constructor's arguments and the arrays, as bytes, and back into a batch made of the same.
  /// Throws InvalidArgument on other bytes.
  std::string memory();
  void remember(std::string_view bytes);

  RowMatrix q, v;                   ///< (runs x nq), (runs x nv)
  RowMatrix v_world;                ///< (runs x nv) with the linear velocities of floating bases and free bodies in world axes
  RowMatrix com;                    ///< (runs x 3), of all that moves, world axes (m)
  RowMatrix wrenches;               ///< (runs x 6 links), none where the last step was refused
  RowMatrix inertias, velocities;   ///< (runs x 10 links), (runs x 6 links)
  std::vector<int> taken;           ///< (runs) steps that the last `step` took: `repeat`, or fewer where one was refused; 0 after `restart`
  std::vector<std::string> errors;  ///< (runs) what a step of the last `step` threw; empty: nothing

 private:
  struct Run;

  bool take_step(int run);
  template <class Archive>
  void carry(Archive& archive);
  void look(int run, bool stepped);
  void look_at_links(int run, const Eigen::Vector3d& p_WC);
  void add_contacts(int run, const Eigen::Vector3d& p_WC);

  std::vector<std::unique_ptr<Run>> all_;
  std::vector<LinkInertia> links_;
  std::unique_ptr<Team> team_;  // last: its threads end before what they work on
};

}  // namespace stiction
