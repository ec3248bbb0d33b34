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

/// Slope of the torque-speed line (N m s/rad or N s/m).
double slope(const VelocityDrive& drive) { return drive.no_load < kInfinity ? drive.most / drive.no_load : 0.0; }

bool is_limited(const Servo& servo) { return servo.limit < kInfinity; }

void validate_row(const World& world, const VelocityRow& row, const std::string& name) {
  if (row.terms.empty()) throw InvalidArgument(name + ".terms", "one or more", "none");
  for (std::size_t i = 0; i < row.terms.size(); ++i) {
    const std::string term = fmt::format("{}.terms[{}]", name, i);
    require_single(world, row.terms[i].v, term);
    require(std::isfinite(row.terms[i].factor) && row.terms[i].factor != 0.0, term + ".factor", "a finite number other than 0",
            row.terms[i].factor);
    const auto earlier = std::span(row.terms).first(i);
    if (std::ranges::find(earlier, row.terms[i].v, &VelocityRow::Term::v) != earlier.end())
      throw InvalidArgument(term + ".v", "each coordinate at most once", fmt::format("{}", row.terms[i].v));
  }
  require(std::isfinite(row.velocity), name + ".velocity", "a finite number", row.velocity);
  require(row.least <= 0.0, name + ".least", "a number <= 0", row.least);
  require(row.most >= 0.0, name + ".most", "a number >= 0", row.most);
}

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
    require(drive.no_load > 0.0, name + ".no_load", "a number > 0", drive.no_load);
    if (drive.no_load < kInfinity)
      require(drive.most < kInfinity && drive.least == -drive.most, name + ".most", "finite and -least, beside a no-load speed",
              drive.most);
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
    require(servo.limit > 0.0, name + ".limit", "a number > 0", servo.limit);
    const auto earlier = std::span(drives.servos).first(i);
    if (is_limited(servo) && std::ranges::any_of(earlier, [&](const Servo& s) { return s.v == servo.v && is_limited(s); }))
      throw InvalidArgument(name + ".v", "a joint that no other servo with a limit drives", fmt::format("{}", servo.v));
  }
  for (std::size_t k = 0; k < drives.rows.size(); ++k) validate_row(world, drives.rows[k], fmt::format("drives.rows[{}]", k));
}

bool has_more_than_velocities(const Drives& drives) {
  return !drives.rows.empty() || std::ranges::any_of(drives.servos, is_limited) ||
         std::ranges::any_of(drives.velocity, [](const VelocityDrive& drive) { return drive.no_load < kInfinity; });
}

namespace {

constexpr std::uint64_t kDrives = std::uint64_t{1} << 48U;  // above the names of joint limits and loops (assemble.cpp)
constexpr std::uint64_t kServos = kDrives << 1U, kRows = kDrives << 2U;

/// The bounds (N m or N) of a row at problem.dt, its other members.
void add_row(ContactProblem& p, Eigen::Index& m, std::uint64_t id, double b, double least, double most, double compliance = 0.0) {
  p.b[m] = b;
  p.lo[m] = p.dt * least;
  p.hi[m] = p.dt * most;
  if (p.row_compliance.size() > 0) p.row_compliance[m] = compliance;
  p.row_ids.push_back(id);
  p.row_kinds.push_back(RowKind::motor);  // without limits, too: what it asks is no drift of a loop
  ++m;
}

void add_coordinate(const World& world, int v, ContactProblem& p) {
  const int block = joint_at(world, v)->block;
  p.J_b.add_group();
  p.J_b.add_entry(block)(0, v - p.M.offset(block)) = 1.0;
}

void add_terms(const World& world, const VelocityRow& row, ContactProblem& p) {
  p.J_b.add_group();
  const auto block_of = [&](const VelocityRow::Term& term) { return joint_at(world, term.v)->block; };
  for (std::size_t i = 0; i < row.terms.size(); ++i) {
    const int block = block_of(row.terms[i]);
    const auto here = [&](const VelocityRow::Term& term) { return block_of(term) == block; };
    if (std::any_of(row.terms.begin(), row.terms.begin() + static_cast<std::ptrdiff_t>(i), here)) continue;
    RowMap entry = p.J_b.add_entry(block);
    for (const VelocityRow::Term& term : row.terms) {
      if (here(term)) entry(0, term.v - p.M.offset(block)) = term.factor;
    }
  }
}

}  // namespace

std::uint64_t drive_row_id(int v) { return kDrives + static_cast<std::uint64_t>(v); }
std::uint64_t velocity_row_id(std::size_t k) { return kRows + k; }

void add_drive_inertia(const World& world, const Drives& drives, double ahead, double share, ContactProblem& p) {
  const auto add = [&](int v, double damping) {
    const int block = joint_at(world, v)->block, local = v - p.M.offset(block);
    p.M.block(block)(local, local) += p.dt * damping;
  };
  for (const VelocityDrive& drive : drives.velocity) {
    if (slope(drive) > 0.0) add(drive.v, slope(drive));
  }
  for (const Servo& servo : drives.servos) {
    if (!is_limited(servo)) add(servo.v, share * servo.kd + ahead * p.dt * servo.kp);
  }
}

void add_drive_impulse(const World& world, const Drives& drives, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v, double ahead,
                       ContactProblem& p) {
  for (const VelocityDrive& drive : drives.velocity) p.impulse[drive.v] -= p.dt * slope(drive) * v[drive.v];
  for (const Servo& servo : drives.servos) {
    if (is_limited(servo)) continue;
    const double error = servo.position - q[joint_at(world, servo.v)->q];
    p.impulse[servo.v] += p.dt * (servo.kp * error + servo.kd * servo.velocity - servo_damping(servo, p.dt, ahead) * v[servo.v]);
  }
}

bool has_compliance(const Drives& drives) { return std::ranges::any_of(drives.servos, is_limited); }

Eigen::Index most_drive_rows(const Drives& drives) {
  return std::ssize(drives.velocity) + std::ssize(drives.servos) + std::ssize(drives.rows);
}

void add_drive_rows(const World& world, const Drives& drives, const Ref<const VectorXd>& q, double ahead, ContactProblem& p,
                    Eigen::Index& m) {
  for (const VelocityDrive& drive : drives.velocity) {
    add_coordinate(world, drive.v, p);
    add_row(p, m, drive_row_id(drive.v), drive.velocity, drive.least, drive.most);
  }
  for (const Servo& s : drives.servos) {
    const double D = servo_damping(s, p.dt, ahead);
    if (!is_limited(s) || D == 0.0) continue;  // without gains there is no torque
    const double wanted = s.kp * (s.position - q[joint_at(world, s.v)->q]) + s.kd * s.velocity;
    add_coordinate(world, s.v, p);
    add_row(p, m, kServos + static_cast<std::uint64_t>(s.v), wanted / D, -s.limit, s.limit, 1.0 / (p.dt * D));
  }
  for (std::size_t k = 0; k < drives.rows.size(); ++k) {
    add_terms(world, drives.rows[k], p);
    add_row(p, m, velocity_row_id(k), drives.rows[k].velocity, drives.rows[k].least, drives.rows[k].most);
  }
}

double motor_limit(const Joint& joint) { return joint.effort_limit > 0.0 ? joint.effort_limit : kInfinity; }

double free_torque(const World& world, const Servo& s, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v_plus, double h,
                   double ahead) {
  const double q_end = q[joint_at(world, s.v)->q] + ahead * h * v_plus[s.v];
  return s.kp * (s.position - q_end) + s.kd * (s.velocity - v_plus[s.v]);
}

void drive_torques(const World& world, const Drives& drives, const Ref<const VectorXd>& q, const Ref<const VectorXd>& v_plus, double ahead,
                   const ContactProblem& problem, const Ref<const VectorXd>& bounded_impulses, VectorXd& tau) {
  tau.setZero(world.nv());
  const auto effort_of = [&](std::uint64_t id) {
    return bounded_impulses[std::ranges::find(problem.row_ids, id) - problem.row_ids.begin()] / problem.dt;
  };
  for (const VelocityDrive& drive : drives.velocity) tau[drive.v] += effort_of(drive_row_id(drive.v)) - slope(drive) * v_plus[drive.v];
  for (const Servo& s : drives.servos) tau[s.v] += std::clamp(free_torque(world, s, q, v_plus, problem.dt, ahead), -s.limit, s.limit);
  for (std::size_t k = 0; k < drives.rows.size(); ++k) {
    const double effort = effort_of(velocity_row_id(k));
    for (const VelocityRow::Term& term : drives.rows[k].terms) tau[term.v] += term.factor * effort;
  }
}

}  // namespace stiction
