// A robot cut at joints: the bodies beyond a cut move freely, in a block of their own with what hangs on them, and the joint becomes rows.
// Blocks are numbered by their roots, bodies and joints block by block, in each in the order of the file.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stiction/base/errors.hpp"
#include "stiction/model/tree.hpp"
#include "stiction/model/world_impl.hpp"

namespace stiction {

namespace {

/// Order of the plans in the cut robot, and where each block starts in it.
struct Order {
  std::vector<int> plans;  ///< new -> old
  std::vector<int> first;  ///< of each block
};

class Cutter {
 public:
  Cutter(const RobotParts& whole, const RobotOptions& options) : whole_(whole), out_(whole) {
    choose(options);
    pose();
    order();
  }

  RobotParts cut() {
    out_.first_plan = order_.first;
    out_.uncut_joint = order_.plans;
    renumber_bodies();
    move_bodies();
    move_joints();
    move_equalities();
    for (std::size_t k = 0; k < order_.plans.size(); ++k) {
      if (is_cut_[order_.plans[k]]) add_cut(static_cast<int>(k), order_.plans[k]);
    }
    if (!unlimited_.empty()) {
      out_.robot.warnings.push_back(fmt::format("limits more than a turn apart are left out of cut joints, which do not count turns: {}",
                                                fmt::join(unlimited_, ", ")));
    }
    return std::move(out_);
  }

 private:
  bool is_free_root(std::size_t k) const { return whole_.plans[k].parent < 0 && whole_.plans[k].kind == JointKind::free; }

  void choose(const RobotOptions& options) {
    is_cut_.assign(whole_.plans.size(), false);
    for (std::size_t k = 0; k < whole_.plans.size(); ++k) {
      const int parent = whole_.plans[k].parent;
      const bool of_root = parent < 0 || is_free_root(parent);
      is_cut_[k] = !is_free_root(k) && (options.coordinates == Coordinates::maximal || (options.cut.empty() && of_root));
    }
    for (const std::string& name : options.cut) is_cut_[joint_named(name)] = true;
    for (std::size_t k = 0; k < whole_.plans.size(); ++k) {
      if (is_cut_[k]) require_simple(whole_.joints[k]);
    }
  }

  int joint_named(const std::string& name) const {
    const auto at = std::ranges::find(whole_.joints, name, &Joint::name);
    if (at == whole_.joints.end() || is_free_root(static_cast<std::size_t>(at - whole_.joints.begin()))) {
      throw InvalidArgument("options.cut", fmt::format("names of joints between bodies of robot '{}'", whole_.robot.name),
                            fmt::format("'{}'", name));
    }
    return static_cast<int>(at - whole_.joints.begin());
  }

  static void require_simple(const Joint& joint) {
    if (joint.kind == JointKind::free)
      throw InvalidArgument("options.coordinates", "no free joint within a tree", fmt::format("'{}'", joint.name));
    if (joint.armature == 0.0 && joint.damping == 0.0 && joint.stiffness == 0.0) return;
    throw InvalidArgument("options.coordinates", "joints to cut without armature, damping and stiffness (options.joints sets them)",
                          fmt::format("'{}' with {}, {} and {}", joint.name, joint.armature, joint.damping, joint.stiffness));
  }

  void pose() {
    X_WB_.resize(whole_.plans.size());
    const std::shared_ptr<const RobotTree> tree = build_tree(whole_);
    TreeScratch scratch(*tree);
    Matrix6Xd J;
    place(*tree, whole_.q0, scratch, X_WB_.data(), J);
  }

  void order() {
    std::vector<int> block(whole_.plans.size());
    int blocks = 0;
    for (std::size_t k = 0; k < block.size(); ++k) {
      const int parent = whole_.plans[k].parent;
      block[k] = parent < 0 || is_cut_[k] ? blocks++ : block[parent];
      order_.plans.push_back(static_cast<int>(k));
    }
    std::ranges::stable_sort(order_.plans, {}, [&](int k) { return block[k]; });
    new_plan_.resize(block.size());
    for (std::size_t k = 0; k < order_.plans.size(); ++k) {
      const int old = order_.plans[k];
      new_plan_[old] = static_cast<int>(k);
      if (k == 0 || block[old] != block[order_.plans[k - 1]]) order_.first.push_back(static_cast<int>(k));
    }
  }

  /// Bodies that stand still come first, as they are.
  void renumber_bodies() {
    new_body_.resize(whole_.bodies.size());
    const int still = static_cast<int>(whole_.bodies.size() - whole_.plans.size());
    for (std::size_t b = 0; b < whole_.bodies.size(); ++b) {
      const int plan = whole_.plan_of_body[b];
      new_body_[b] = plan < 0 ? static_cast<int>(b) : still + new_plan_[plan];
    }
  }

  void move_bodies() {
    for (std::size_t b = 0; b < whole_.bodies.size(); ++b) {
      const std::size_t to = new_body_[b];
      out_.bodies[to] = whole_.bodies[b];
      out_.static_pose[to] = whole_.static_pose[b];
      out_.plan_of_body[to] = whole_.plan_of_body[b] < 0 ? -1 : new_plan_[whole_.plan_of_body[b]];
    }
    for (Link& link : out_.links) link.body = new_body_[link.body];
    for (CollisionGeometry& g : out_.geometries) g.body = new_body_[g.body];
  }

  void move_joints() {
    int q = 0, v = 0;
    out_.q0.resize(0);
    for (std::size_t k = 0; k < order_.plans.size(); ++k) {
      const std::size_t old = order_.plans[k];
      JointPlan& plan = out_.plans[k] = whole_.plans[old];
      Joint& joint = out_.joints[k] = whole_.joints[old];
      joint.body = new_body_[joint.body];
      if (plan.parent >= 0) plan.parent = new_plan_[plan.parent];
      if (is_cut_[old]) set_free(plan, joint);
      joint.q = q;
      joint.v = v;
      q += joint.nq;
      v += joint.nv;
      out_.q0.conservativeResize(q);
      if (is_cut_[old]) {
        out_.q0.tail<7>() << X_WB_[old].translation(), Eigen::Quaterniond(X_WB_[old].linear()).normalized().coeffs();
      } else {
        out_.q0.tail(joint.nq) = whole_.q0.segment(whole_.joints[old].q, joint.nq);
      }
    }
  }

  void set_free(JointPlan& plan, Joint& joint) const {
    plan.kind = JointKind::free;
    plan.parent = -1;
    plan.placement.setIdentity();
    Joint free{out_.bodies[joint.body].name, JointKind::free, joint.robot, joint.block, joint.body};
    free.nq = 7;
    free.nv = 6;
    free.upper = free.velocity_limit = free.effort_limit = std::numeric_limits<double>::infinity();
    free.lower = -free.upper;
    joint = free;
  }

  void move_equalities() {
    for (Equality& e : out_.equalities) {
      for (int* body : {&e.body_a, &e.body_b}) *body = *body < 0 ? -1 : new_body_[*body];
      for (int* joint : {&e.joint_a, &e.joint_b}) {
        if (*joint < 0) continue;
        if (is_cut_[*joint]) {
          throw InvalidArgument("options.coordinates", "no cut at a joint that follows another one or is followed",
                                fmt::format("'{}'", whole_.joints[*joint].name));
        }
        *joint = new_plan_[*joint];
      }
    }
  }

  // The angle of a cut joint is read from where its bodies are.
  void drop_uncounted_limits(Joint& joint) {
    const bool limited = std::isfinite(joint.lower) || std::isfinite(joint.upper);
    if (joint.kind != JointKind::revolute || !limited || joint.upper - joint.lower <= 2.0 * std::numbers::pi) return;
    joint.upper = std::numeric_limits<double>::infinity();
    joint.lower = -joint.upper;
    unlimited_.push_back(joint.name);
  }

  void add_cut(int k, int old) {
    const JointPlan& plan = whole_.plans[old];
    CutJoint cut;
    cut.joint = whole_.joints[old];
    cut.joint.body = out_.joints[k].body;
    drop_uncounted_limits(cut.joint);
    cut.equality = static_cast<int>(out_.equalities.size());
    Equality rows;
    rows.name = cut.joint.name;
    rows.kind = plan.kind == JointKind::revolute ? EqualityKind::hinge
                                                 : (plan.kind == JointKind::prismatic ? EqualityKind::slide : EqualityKind::connect);
    rows.body_a = cut.joint.body;
    rows.axis = plan.axis;
    if (plan.parent >= 0) {
      rows.body_b = new_body_[whole_.joints[plan.parent].body];
      rows.X_BF = plan.placement;
    } else {
      rows.body_b = 0;  // what a robot that is not free stands on
      rows.X_BF = whole_.static_pose[0].inverse() * plan.placement;
    }
    cut.parent = rows.body_b;
    out_.equalities.push_back(rows);
    out_.cuts.push_back(cut);
  }

  const RobotParts& whole_;
  RobotParts out_;
  std::vector<bool> is_cut_;             ///< per plan
  std::vector<Eigen::Isometry3d> X_WB_;  ///< of each plan's body at the start
  Order order_;
  std::vector<std::string> unlimited_;    ///< joints whose limits are left out
  std::vector<int> new_plan_, new_body_;  ///< old -> new
};

}  // namespace

RobotParts cut_at_joints(const RobotParts& whole, const RobotOptions& options) {
  if (options.coordinates != Coordinates::extended && !options.cut.empty()) {
    throw InvalidArgument("options.cut", "none but for extended coordinates", fmt::format("{} names", options.cut.size()));
  }
  if (options.coordinates == Coordinates::minimal || whole.plans.empty()) return whole;
  return Cutter(whole, options).cut();
}

RobotParts parts_of_block(const RobotParts& parts, std::size_t block) {
  RobotParts out;
  out.robot = parts.robot;
  const std::size_t first = parts.first_plan[block];
  const std::size_t end = block + 1 < parts.first_plan.size() ? parts.first_plan[block + 1] : parts.plans.size();
  for (std::size_t k = first; k < end; ++k) {
    out.plans.push_back(parts.plans[k]);
    out.joints.push_back(parts.joints[k]);
    if (out.plans.back().parent >= 0) out.plans.back().parent -= static_cast<int>(first);
    out.joints.back().q -= parts.joints[first].q;
    out.joints.back().v -= parts.joints[first].v;
  }
  const Joint& last = parts.joints[end - 1];
  out.q0 = parts.q0.segment(parts.joints[first].q, last.q + last.nq - parts.joints[first].q);
  return out;
}

}  // namespace stiction
