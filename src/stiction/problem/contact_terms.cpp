#include "stiction/problem/contact_terms.hpp"

#include <Eigen/LU>

namespace stiction {

using Eigen::Vector3d;

Vector3d cone_impulse(const ContactTerms& t, const Vector3d& lambda) {
  Vector3d out = lambda;
  out.tail<2>() -= t.known;
  if (t.turned) out.tail<2>() = (t.axes.inverse() * out.tail<2>()).eval();
  return out;
}

Vector3d cone_velocity(const ContactTerms& t, const Vector3d& u) {
  Vector3d out = u;
  if (t.turned) out.tail<2>() = t.axes.transpose() * u.tail<2>();
  return out;
}

Vector3d law_velocity(const ContactTerms& t, const Vector3d& u, const Vector3d& cone_impulse) {
  Vector3d out = cone_velocity(t, u) + t.offset;
  out[0] += t.normal_compliance * cone_impulse[0];
  out.tail<2>() += t.tangential_compliance * cone_impulse.tail<2>();
  return out;
}

Vector3d contact_impulse(const ContactTerms& t, const Vector3d& cone_impulse) {
  Vector3d out = cone_impulse;
  if (t.turned) out.tail<2>() = t.axes * cone_impulse.tail<2>();
  out.tail<2>() += t.known;
  return out;
}

ContactTerms recession(const ContactTerms& t, Family family) {
  ContactTerms out = t;
  out.bears = t.bears && family != Family::constitutive && t.normal_compliance == 0.0;
  if (family != Family::associated || t.tangential_compliance > 0.0) out.mu = 0.0;
  out.coulomb = false;
  out.tangential_compliance = 0.0;
  out.known.setZero();
  return out;
}

}  // namespace stiction
