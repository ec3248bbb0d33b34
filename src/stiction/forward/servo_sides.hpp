// Servos with limits without rows: those within their limits are inertia and impulse, those beyond are torques, and which is which is found
// by solving again. As rows (joint_drives.hpp) they are settled in one problem with the contacts, which takes three times as long.
#pragma once

#include <vector>

#include "stiction/drive/joint_drives.hpp"

namespace stiction {

class ServoSides {
 public:
  /// Sides at the velocities v (nv) before a step of length h that starts at q; `ahead` is SchemeRow::spring_ahead.
  void start(const World& world, const Drives& asked, const Eigen::Ref<const Eigen::VectorXd>& q,
             const Eigen::Ref<const Eigen::VectorXd>& v, double h, double ahead, Drives& placed);
  /// True where the answer v_plus has servos on the wrong side of their limits; `placed` has them on the right one then, or, once they have
  /// changed too often, as rows.
  bool change(const World& world, const Drives& asked, const Eigen::Ref<const Eigen::VectorXd>& q,
              const Eigen::Ref<const Eigen::VectorXd>& v_plus, double h, double ahead, Drives& placed);
  /// Adds the torques of the servos that are cut to tau (nv).
  void add_torques(const Drives& asked, Eigen::VectorXd& tau) const;
  /// All servos are as they were asked for.
  void clear() { sides_.clear(); }

 private:
  bool find(const World& world, const Drives& asked, const Eigen::Ref<const Eigen::VectorXd>& q, const Eigen::Ref<const Eigen::VectorXd>& v,
            double h, double ahead);
  void place(const Drives& asked, Drives& placed) const;

  std::vector<signed char> sides_;  ///< per servo: 0 within its limit, else the side that it is cut at; empty: none is looked for
  int changes_ = 0;
};

}  // namespace stiction
