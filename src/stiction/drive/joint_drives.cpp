#include "stiction/drive/joint_drives.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Ref;
using Eigen::VectorXd;

void require_single(const World& world, int v, const std::string& name) {
  const Joint* joint = joint_at(world, v);
  if (joint == nullptr || joint->nv != 1) throw InvalidArgument(name + ".v", "the coordinate of a joint with one", fmt::format("{}", v));
}

void require(bool holds, const std::string& name, const char* expected, double value) {
  if (!holds) throw InvalidArgument(name, expected, fmt::format("{}", value));
}

/// D of the file comment.
double servo_damping(const Servo& servo, double h, double ahead) { return servo.kd + ahead * h * servo.kp; }

}  // namespace

const Joint* joint_at(const World& world, int v) {
  const auto found = std::ranges::lower_bound(world.joints(), v, {}, &Joint::v);
  return found != world.joints().end() && found->v == v ? &*found : nullptr;
}

void validate(const World& world, const Drives& drives) {
  for (std::size_t i = 0; i < drives.velocity.size(); ++i) {
    const VelocityDrive& drive = drives.velocity[i];
    const std::string name = fmt::format("drives.velocity[{}]", i);
    require_single(world, drive.v, name);
    require(std::isfinite(drive.velocity), name + ".velocity", "a finite number", drive.velocity);
    require(drive.least <= 0.0, name + ".least", "a number <= 0", drive.least);
    require(drive.most >= 0.0, name + ".most", "a number >= 0", drive.most);
    const auto earlier = std::span(drives.velocity).first(i);
    if (std::ranges::find(earlier, drive.v, &VelocityDrive::v) != earlier.end())
      throw InvalidArgument(name + ".v", "a joint that no other velocity drive drives", fmt::format("{}", drive.v));
  }
  for (std::size_t i = 0; i < drives.servos.size(); ++i) {
    const Servo& servo = drives.servos[i];
    const std::string name = fmt::format("drives.servos[{}]", i);
    require_single(world, servo.v, name);
    require(std::isfinite(servo.position), name + ".position", "a finite number", servo.position);
    require(std::isfinite(servo.velocity), name + ".velocity", "a finite number", servo.velocity);
    require(servo.kp >= 0.0 && std::isfinite(servo.kp), name + ".kp", "a finite number >= 0", servo.kp);
    require(servo.kd >= 0.0 && std::isfinite(servo.kd), name + ".kd", "a finite number >= 0", servo.kd);
  }
}

std::uint64_t drive_row_id(int v) {
  constexpr std::uint64_t kDrives = std::uint64_t{1} << 48U;  // above the names of joint limits and loops (assemble.cpp)
  return kDrives + static_cast<std::uint64_t>(v);
}

void add_servo_inertia(const World& world, const Drives& drives, double ahead, ContactProblem& p) {
  for (const Servo& servo : drives.servos) {
    const int block = joint_at(world, servo.v)->block, local = servo.v - p.M.offset(block);
    p.M.block(block)(local, local) += p.dt * servo_damping(servo, p.dt, ahead);
  }
}

void add_servo_impulse(const World& world, const Drives& drives, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v, double ahead,
                       ContactProblem& p) {
  for (const Servo& servo : drives.servos) {
    const double error = servo.position - q[joint_at(world, servo.v)->q];
    p.impulse[servo.v] += p.dt * (servo.kp * error + servo.kd * servo.velocity - servo_damping(servo, p.dt, ahead) * v[servo.v]);
  }
}

void velocity_drive_torques(const Drives& drives, const ContactProblem& problem, const Ref<const VectorXd>& bounded_impulses,
                            VectorXd& out) {
  out.resize(static_cast<Eigen::Index>(drives.velocity.size()));
  for (std::size_t i = 0; i < drives.velocity.size(); ++i) {
    const auto row = std::ranges::find(problem.row_ids, drive_row_id(drives.velocity[i].v));
    out[static_cast<Eigen::Index>(i)] = bounded_impulses[row - problem.row_ids.begin()] / problem.dt;
  }
}

void servo_torques(const World& world, const Drives& drives, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v_plus, double h,
                   double ahead, VectorXd& out) {
  out.resize(static_cast<Eigen::Index>(drives.servos.size()));
  for (std::size_t i = 0; i < drives.servos.size(); ++i) {
    const Servo& s = drives.servos[i];
    const double q_end = q[joint_at(world, s.v)->q] + ahead * h * v_plus[s.v];
    out[static_cast<Eigen::Index>(i)] = s.kp * (s.position - q_end) + s.kd * (s.velocity - v_plus[s.v]);
  }
}

}  // namespace stiction
