// Tangential springs of persistent contacts (law stick_slip_spring), carried from step to step by the contact's id as vectors of the
// world, so that a contact frame that turns takes nothing from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/geometry/contact_point.hpp"
#include "stiction/laws/lowering.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

class ContactSprings {
 public:
  /// Writes the elongations of the contacts known into problem.material (contacts in the problem's order); new contacts start at rest.
  void load(std::span<const ContactPoint> contacts, ContactProblem& problem) const;
  /// Elongations after a step to velocities v_plus (nv). `law` is that of contacts that name none.
  void update(std::span<const ContactPoint> contacts, const ContactProblem& problem, Law law,
              const Eigen::Ref<const Eigen::VectorXd>& v_plus);
  void clear() { springs_.clear(); }
  /// Writes or reads the elongations (base/archive.hpp).
  template <class Archive>
  void carry(Archive& archive) {
    springs_.resize(archive.count(springs_.size(), sizeof(Spring)));
    for (Spring& spring : springs_) archive(spring.id, spring.elongation.x(), spring.elongation.y(), spring.elongation.z());
  }

 private:
  struct Spring {
    std::uint64_t id;
    Eigen::Vector3d elongation;  // world (m)
  };
  std::vector<Spring> springs_, next_;  // sorted by id
};

}  // namespace stiction
