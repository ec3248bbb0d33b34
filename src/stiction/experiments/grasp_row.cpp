#include <algorithm>

#include <fmt/format.h>

#include "stiction/base/random.hpp"
#include "stiction/experiments/grasp.hpp"
#include "stiction/experiments/small_world.hpp"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr int kGrippers = 2;
constexpr double kMargin = 1e-3;  // m: a hundredth of a box, within which points of two faces are contacts

/// The grippers' coordinates come first, then six per box.
World row_of_boxes(int boxes) {
  WorldBuilder builder;
  const double end = 0.5 * kGraspBox * (boxes + 1), inertia = kGraspMass * kGraspBox * kGraspBox / 6.0;
  const auto gripper = [&](double x) {
    return fmt::format(R"(<body pos="{0} 0 0"><joint type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="{1}" diaginertia="{2} {2} {2}"/>
        <geom type="box" size="{3} {3} {3}"/></body>)",
                       x, kGraspMass, inertia, 0.5 * kGraspBox);
  };
  add_mjcf(builder, "<worldbody>" + gripper(end) + gripper(-end) + "</worldbody>");
  for (int i = 0; i < boxes; ++i) {
    const double x = kGraspBox * (i - 0.5 * (boxes - 1));
    builder.add_free_body(solid(fmt::format("box{}", i), Box{Vector3d::Constant(0.5 * kGraspBox)}, kGraspMass, Vector3d(x, 0.0, 0.0)));
  }
  return builder.build();
}

bool is_gripper(const World& world, int body) { return world.bodies()[body].robot >= 0; }

CollisionScene scene_of(const World& world, const GraspSetting& setting) {
  CollisionScene scene = make_scene(world, setting.mu);
  const auto geometries = scene.geometries();
  for (int a = 0; a < static_cast<int>(geometries.size()); ++a) {
    for (int b = a + 1; b < static_cast<int>(geometries.size()); ++b) {
      const int body_a = geometries[a].body, body_b = geometries[b].body;
      const bool gripped = is_gripper(world, body_a) || is_gripper(world, body_b);
      scene.set_pair_material(a, b, gripped ? setting.gripper_mu.value_or(setting.mu) : setting.mu, 0.0);
    }
  }
  return scene;
}

}  // namespace

void add_corner_normals(std::vector<ContactPoint>& contacts) {
  const std::vector<ContactPoint> corners = contacts;
  contacts.clear();
  for (const ContactPoint& corner : corners) {
    Vector3d center = Vector3d::Zero();
    double count = 0.0;
    for (const ContactPoint& other : corners) {
      if (other.geometry_a != corner.geometry_a || other.geometry_b != corner.geometry_b) continue;
      center += other.p_WC;
      count += 1.0;
    }
    const Vector3d arm = corner.p_WC - center / count;
    contacts.push_back(corner);
    for (const Vector3d& t : {corner.t1, corner.t2}) {
      ContactPoint copy = corner;
      copy.n = arm.dot(t) > 0.0 ? t : Vector3d(-t);  // A's corner lies on the side face of B there
      copy.gap = 0.0;
      contact_tangents(copy.n, copy.t1, copy.t2);
      contacts.push_back(copy);
    }
  }
}

HeldRow::HeldRow(const GraspSetting& setting, int boxes, double h, double jitter, std::uint64_t seed)
    : boxes_(boxes), h_(h), setting_(setting), world_(row_of_boxes(boxes)), scene_(scene_of(world_, setting)), data_(world_) {
  state_ = initial_state(world_);
  Uniform random(seed);
  for (int i = 0; i < boxes_ && jitter > 0.0; ++i) {
    for (const int axis : {1, 2}) state_.q[kGrippers + 7 * i + axis] += jitter * random(-1.0, 1.0);
  }
  start_ = state_;
  assemble_.dt = h;
  assemble_.law = setting.law;
  options_.law = setting.law;
  options_.solver = setting.solver;
  options_.warm_start = setting.warm_start;
  tau_.setZero(world_.nv());
  tau_[0] = -kGraspForce * boxes;
  tau_[1] = kGraspForce * boxes;
}

bool HeldRow::step() {
  update(world_, state_.q, state_.v, data_);
  scene_.update_poses(data_.X_WB);
  scene_.detect(kMargin, contacts_);
  if (setting_.corner_normals) add_corner_normals(contacts_);
  assemble(world_, data_, state_.q, state_.v, tau_, contacts_, assemble_, problem_);
  if (setting_.corner_normals) problem_.ids.clear();  // three contacts at one corner have one name
  solve(problem_, options_, workspace_, solution_);
  if (!(solution_.certificate.worst() <= StepOptions{}.acceptable)) return false;
  state_.v = solution_.v;
  integrate(world_, state_.q, state_.v, h_, state_.q);
  state_.time += h_;
  return true;
}

double HeldRow::sag() const {
  double sag = 0.0;
  for (int i = 0; i < boxes_; ++i) sag = std::max(sag, std::abs(state_.q[kGrippers + 7 * i + 2] - start_.q[kGrippers + 7 * i + 2]));
  return sag;
}

double HeldRow::relative_energy() const {
  const double inertia = kGraspMass * kGraspBox * kGraspBox / 6.0;
  double energy = 0.0;
  for (int i = 0; i < boxes_; ++i) {
    const Eigen::Quaterniond R(Eigen::Vector4d(state_.q.segment<4>(kGrippers + 7 * i + 3)));
    const Vector3d v = R * state_.v.segment<3>(kGrippers + 6 * i), spin = state_.v.segment<3>(kGrippers + 6 * i + 3);
    for (int g = 0; g < kGrippers; ++g) {
      const Vector3d relative = v - state_.v[g] * Vector3d::UnitX();
      energy += (0.5 * kGraspMass * relative.squaredNorm() + 0.5 * inertia * spin.squaredNorm()) / kGrippers;
    }
  }
  return energy;
}

Eigen::Vector2d HeldRow::gripper_force(int gripper) const {
  const int body = world_.joints()[gripper].body;
  Vector3d force = Vector3d::Zero();
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const ContactPoint& contact = contacts_[i];
    if (contact.body_a != body && contact.body_b != body) continue;
    const Vector3d on_a = contact.R_WC() * solution_.impulses.segment<3>(3 * static_cast<Eigen::Index>(i)) / h_;
    force += contact.body_a == body ? on_a : Vector3d(-on_a);
  }
  return {force.x(), force.z()};
}

}  // namespace stiction
