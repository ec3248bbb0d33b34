#include "stiction/forward/servo_sides.hpp"

namespace stiction {

namespace {

using Ref = Eigen::Ref<const Eigen::VectorXd>;

constexpr int kChanges = 8;     // nearly always one or two
constexpr double kSame = 1e-9;  // of the limit: rounding changes no side

}  // namespace

void ServoSides::start(const World& world, const Drives& asked, const Ref& q, const Ref& v, double h, double ahead, Drives& placed) {
  changes_ = 0;
  sides_.assign(asked.servos.size(), 0);
  find(world, asked, q, v, h, ahead);
  place(asked, placed);
}

bool ServoSides::change(const World& world, const Drives& asked, const Ref& q, const Ref& v_plus, double h, double ahead, Drives& placed) {
  if (!find(world, asked, q, v_plus, h, ahead)) return false;
  if (++changes_ > kChanges) clear();
  place(asked, placed);
  return true;
}

bool ServoSides::find(const World& world, const Drives& asked, const Ref& q, const Ref& v, double h, double ahead) {
  bool changed = false;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const Servo& servo = asked.servos[i];
    const double torque = free_torque(world, servo, q, v, h, ahead), limit = servo.limit * (1.0 + (sides_[i] == 0 ? kSame : -kSame));
    const signed char side = torque > limit ? 1 : torque < -limit ? -1 : 0;
    changed = changed || side != sides_[i];
    sides_[i] = side;
  }
  return changed;
}

void ServoSides::place(const Drives& asked, Drives& placed) const {
  placed.servos.clear();
  for (std::size_t i = 0; i < asked.servos.size(); ++i) {
    if (!sides_.empty() && sides_[i] != 0) continue;
    placed.servos.push_back(asked.servos[i]);
    if (!sides_.empty()) placed.servos.back().limit = kInfinity;
  }
}

void ServoSides::add_torques(const Drives& asked, Eigen::VectorXd& tau) const {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (sides_[i] != 0) tau[asked.servos[i].v] += sides_[i] * asked.servos[i].limit;
  }
}

}  // namespace stiction
