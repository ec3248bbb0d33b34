#include "stiction/experiments/cut_robot.hpp"

#include <algorithm>
#include <string>

#include "stiction/base/errors.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

Matrix3d cross(const Vector3d& p) {
  Matrix3d m;
  m << 0, -p[2], p[1], p[2], 0, -p[0], -p[1], p[0], 0;
  return m;
}

/// Rows that map a twist about the world's origin to the velocity of the point p.
Eigen::Matrix<double, 3, 6> point_rows(const Vector3d& p) {
  Eigen::Matrix<double, 3, 6> rows;
  rows << Matrix3d::Identity(), -cross(p);
  return rows;
}

Matrix6d spatial_inertia(const Body& body, const Eigen::Isometry3d& X_WB) {
  const Vector3d c = X_WB * body.com;
  const Matrix3d R = X_WB.linear();
  Matrix6d I;
  I << body.mass * Matrix3d::Identity(), -body.mass * cross(c), body.mass * cross(c),
      R * body.inertia * R.transpose() - body.mass * cross(c) * cross(c);
  return I;
}

class CutRobot {
 public:
  CutRobot(const World& world, const WorldData& data, const Eigen::Ref<const VectorXd>& tau, const ContactProblem& minimal, Cut cut)
      : world_(world), data_(data), tau_(tau), minimal_(minimal) {
    check();
    read_twists();
    find_parents();
    make_subsystems(cut);
  }

  ContactProblem problem(std::span<const ContactPoint> contacts) const {
    ContactProblem p;
    p.dt = minimal_.dt;
    p.M.reset(sizes_);
    p.v.setZero(p.M.size());
    p.impulse.setZero(p.M.size());
    fill_dynamics(p);
    fill_contacts(contacts, p);
    fill_cuts(p);
    p.mu = minimal_.mu;
    p.restitution = minimal_.restitution;
    p.gap = minimal_.gap;
    p.material = minimal_.material;
    p.ids = minimal_.ids;
    return p;
  }

 private:
  struct Member {
    int joint = -1, parent = -1;      // of the body: the joint that moves it, and the member it hangs on; the base has parent -1
    int subsystem = -1, column = -1;  // column of the joint's rate in the subsystem, -1 when it is cut
    MatrixXd J;                       // 6 x coordinates of the subsystem
  };

  void check() const {
    if (world_.robots().size() != 1 || !world_.robots()[0].floating || world_.blocks().size() != 1)
      throw InvalidArgument("world", "one robot with a floating base", "another world");
    for (const Joint& joint : world_.joints()) {
      if (joint.kind != JointKind::free && (joint.kind != JointKind::revolute || joint.armature != 0.0))
        throw InvalidArgument("world", "revolute joints without armature", "joint " + joint.name);
    }
  }

  // Z: twist of each moving body about the world's origin = Z v.
  void read_twists() {
    for (std::size_t j = 0; j < world_.joints().size(); ++j) {
      Member m;
      m.joint = static_cast<int>(j);
      Matrix6Xd Z(6, world_.nv());
      frame_jacobian(world_, data_, world_.joints()[j].body, Vector3d::Zero(), Z);
      twists_.push_back(Z);
      members_.push_back(m);
    }
  }

  bool supports(std::size_t ancestor, std::size_t of) const {
    const Joint& joint = world_.joints()[ancestor];
    return !twists_[of].middleCols(joint.v, joint.nv).isZero(0.0);
  }

  // The joints whose columns are not zero are the ancestors; the parent is the one with the most of its own.
  void find_parents() {
    const auto depth = [&](std::size_t j) {
      int count = 0;
      for (std::size_t a = 0; a < members_.size(); ++a) count += supports(a, j) ? 1 : 0;
      return count;
    };
    for (std::size_t j = 0; j < members_.size(); ++j) {
      int deepest = 0;
      for (std::size_t a = 0; a < members_.size(); ++a) {
        if (a == j || !supports(a, j) || depth(a) <= deepest) continue;
        deepest = depth(a);
        members_[j].parent = static_cast<int>(a);
      }
    }
  }

  bool is_cut(const Member& m, Cut cut) const { return cut == Cut::maximal || members_[static_cast<std::size_t>(m.parent)].parent < 0; }

  void make_subsystems(Cut cut) {
    std::vector<std::size_t> order(members_.size());
    for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;  // joints are numbered from the root outwards
    for (const std::size_t j : order) {
      Member& m = members_[j];
      if (m.parent < 0 || is_cut(m, cut)) {
        m.subsystem = static_cast<int>(sizes_.size());
        roots_.push_back(static_cast<int>(j));
        sizes_.push_back(6);
      } else {
        m.subsystem = members_[static_cast<std::size_t>(m.parent)].subsystem;
        m.column = sizes_[static_cast<std::size_t>(m.subsystem)]++;
      }
    }
    for (const std::size_t j : order) {
      Member& m = members_[j];
      m.J.setZero(6, sizes_[static_cast<std::size_t>(m.subsystem)]);
      if (m.column < 0) {
        m.J.leftCols<6>().setIdentity();
        continue;
      }
      m.J = members_[static_cast<std::size_t>(m.parent)].J;
      m.J.col(m.column) = axis(j);
    }
  }

  Vector6d axis(std::size_t j) const { return twists_[j].col(world_.joints()[j].v); }

  void fill_dynamics(ContactProblem& p) const {
    for (std::size_t j = 0; j < members_.size(); ++j) {
      const Member& m = members_[j];
      const Body& body = world_.bodies()[static_cast<std::size_t>(world_.joints()[j].body)];
      const Matrix6d I = spatial_inertia(body, data_.X_WB[static_cast<std::size_t>(world_.joints()[j].body)]);
      const Vector6d V = twists_[j] * minimal_.v, momentum = I * V;
      Vector6d wrench;
      wrench.head<3>() = body.mass * world_.gravity() - V.tail<3>().cross(momentum.head<3>());
      const Vector3d com = data_.X_WB[static_cast<std::size_t>(world_.joints()[j].body)] * body.com;
      wrench.tail<3>() =
          com.cross(body.mass * world_.gravity()) - V.tail<3>().cross(momentum.tail<3>()) - V.head<3>().cross(momentum.head<3>());
      p.M.block(m.subsystem) += m.J.transpose() * I * m.J;
      const int first = p.M.offset(m.subsystem);
      p.impulse.segment(first, m.J.cols()) += p.dt * m.J.transpose() * wrench;
      if (m.column >= 0) {
        p.v[first + m.column] = minimal_.v[world_.joints()[j].v];
        p.impulse[first + m.column] += p.dt * tau_[world_.joints()[j].v];
      } else {
        p.v.segment<6>(first) = V;
        if (m.parent >= 0) add_couple(j, p);
      }
    }
  }

  // The torque of a cut joint acts on both sides.
  void add_couple(std::size_t j, ContactProblem& p) const {
    Vector6d couple = Vector6d::Zero();
    couple.tail<3>() = p.dt * tau_[world_.joints()[j].v] * axis(j).tail<3>();
    const Member &child = members_[j], &parent = members_[static_cast<std::size_t>(child.parent)];
    p.impulse.segment(p.M.offset(child.subsystem), child.J.cols()) += child.J.transpose() * couple;
    p.impulse.segment(p.M.offset(parent.subsystem), parent.J.cols()) -= parent.J.transpose() * couple;
  }

  int member_of(int body) const {
    for (std::size_t j = 0; j < members_.size(); ++j) {
      if (world_.joints()[j].body == body) return static_cast<int>(j);
    }
    return -1;
  }

  void add_side(const ContactPoint& c, int body, double sign, BlockRows& J) const {
    const int j = member_of(body);
    if (j < 0) return;
    const Member& m = members_[static_cast<std::size_t>(j)];
    const MatrixXd rows = sign * c.R_WC().transpose() * point_rows(c.p_WC) * m.J;
    const int g = J.groups() - 1;
    for (int e = J.entry_begin(g); e < J.entry_end(g); ++e) {
      if (J.entry_block(e) != m.subsystem) continue;
      J.entry(e) += rows;
      return;
    }
    J.add_entry(m.subsystem) = rows;
  }

  void fill_contacts(std::span<const ContactPoint> contacts, ContactProblem& p) const {
    p.J.reset(3, sizes_);
    for (const ContactPoint& c : contacts) {
      p.J.add_group();
      add_side(c, c.body_a, 1.0, p.J);
      add_side(c, c.body_b, -1.0, p.J);
    }
  }

  // Relative velocity at the joint's origin, and relative spin across its axis, are zero.
  void fill_cuts(ContactProblem& p) const {
    p.J_b.reset(1, sizes_);
    for (const int root : roots_) {
      const Member& child = members_[static_cast<std::size_t>(root)];
      if (child.parent < 0) continue;
      const Member& parent = members_[static_cast<std::size_t>(child.parent)];
      Eigen::Matrix<double, 5, 6> C = Eigen::Matrix<double, 5, 6>::Zero();
      C.topRows<3>() = point_rows(data_.X_WB[static_cast<std::size_t>(world_.joints()[static_cast<std::size_t>(root)].body)].translation());
      Vector3d t1, t2;
      contact_tangents(axis(static_cast<std::size_t>(root)).tail<3>().normalized(), t1, t2);
      C.row(3).tail<3>() = t1;
      C.row(4).tail<3>() = t2;
      for (int k = 0; k < 5; ++k) {
        p.J_b.add_group();
        p.J_b.add_entry(parent.subsystem) = -C.row(k) * parent.J;
        p.J_b.add_entry(child.subsystem) = C.row(k) * child.J;
      }
    }
    const Index m = p.J_b.groups();
    p.b.setZero(m);
    p.lo = VectorXd::Constant(m, -kInfinity);
    p.hi = VectorXd::Constant(m, kInfinity);
  }

  const World& world_;
  const WorldData& data_;
  const VectorXd tau_;
  const ContactProblem& minimal_;
  std::vector<Matrix6Xd> twists_;
  std::vector<Member> members_;
  std::vector<int> sizes_, roots_;
};

}  // namespace

ContactProblem cut_robot(const World& world, const WorldData& data, const Eigen::Ref<const VectorXd>& tau,
                         std::span<const ContactPoint> contacts, const ContactProblem& minimal, Cut cut) {
  require_size("tau", tau.size(), world.nv());
  require_size("contacts", static_cast<Index>(contacts.size()), minimal.contacts());
  return CutRobot(world, data, tau, minimal, cut).problem(contacts);
}

}  // namespace stiction
