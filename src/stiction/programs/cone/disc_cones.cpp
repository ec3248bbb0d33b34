#include <algorithm>
#include <cmath>

#include "stiction/programs/cone/smooth_cones.hpp"

namespace stiction {

void DiscCones::bind(const ReducedProblem& problem, const SectionShape&, bool relaxed, const GrowVector& scale, double soft) {
  contacts_.resize(problem.contacts());
  soft_ = soft;
  for (int i = 0; i < problem.contacts(); ++i) contacts_[i].bind(problem.mu[i], relaxed, scale[i]);
}

void DiscCones::start(double t, double* w) const {
  for (const Contact& c : contacts_) {
    w[0] = 0.0;
    w[1] = c.friction ? (c.mu - 1.0 / c.mu) * t : 0.0;  // x_0 = μ λ_N
    w[2] = w[3] = 0.0;
    w += kUnknowns;
  }
}

void DiscCones::from_impulses(const GrowVector& lambda, const GrowVector& u, const GrowVector& offset, double* w) const {
  for (std::size_t i = 0; i < contacts_.size(); ++i, w += kUnknowns) {
    const Contact& c = contacts_[i];
    const double* l = lambda.data() + 3 * i;
    const double* v = u.data() + 3 * i;
    const double s = c.friction ? std::sqrt(v[1] * v[1] + v[2] * v[2]) / c.scale : 0.0;
    w[0] = c.scale * l[0] - (v[0] + offset.data()[i]) / c.scale + c.kappa * s;
    w[1] = w[2] = w[3] = 0.0;
    if (!c.friction) continue;
    w[1] = c.mu * c.scale * l[0] - s;
    w[2] = c.scale * l[1] - v[1] / c.scale;
    w[3] = c.scale * l[2] - v[2] / c.scale;
  }
}

void DiscCones::place(const double* w, double nu, GrowVector& lambda) {
  for (std::size_t i = 0; i < contacts_.size(); ++i, w += kUnknowns) {
    Contact& c = contacts_[i];
    double* l = lambda.data() + 3 * i;
    c.normal.place(w[0], nu);
    l[0] = c.normal.x / c.scale;
    if (!c.friction) {
      l[1] = l[2] = 0.0;
      continue;
    }
    const double norm = std::sqrt(w[2] * w[2] + w[3] * w[3]);
    c.e1 = norm > 0.0 ? w[2] / norm : 1.0;
    c.e2 = norm > 0.0 ? w[3] / norm : 0.0;
    Pair plus, minus;
    plus.place(w[1] + norm, nu);
    minus.place(w[1] - norm, nu);
    c.plus_x = plus.x, c.plus_z = plus.z, c.minus_x = minus.x, c.minus_z = minus.z;
    c.x0 = 0.5 * (plus.x + minus.x);
    c.s = 0.5 * (plus.z + minus.z);
    const double x = 0.5 * (plus.x - minus.x), z = 0.5 * (plus.z - minus.z);
    c.z1 = z * c.e1, c.z2 = z * c.e2;
    l[1] = x * c.e1 / c.scale;
    l[2] = x * c.e2 / c.scale;
  }
}

void DiscCones::residual(const GrowVector& u, const GrowVector& offset, double* r) const {
  for (std::size_t i = 0; i < contacts_.size(); ++i, r += kUnknowns) {
    const Contact& c = contacts_[i];
    const double* v = u.data() + 3 * i;
    r[0] = c.normal.z - (v[0] + offset.data()[i]) / c.scale;
    r[1] = r[2] = r[3] = 0.0;
    if (!c.friction) continue;
    r[0] += c.kappa * c.s;
    r[1] = (c.mu * c.normal.x - c.x0) / std::max(1.0, c.mu);
    r[2] = c.z1 - v[1] / c.scale;
    r[3] = c.z2 - v[2] / c.scale;
  }
}

// In scaled numbers; D is that of δλ and δu.
void DiscCones::eliminate(GrowVector& D) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& c = contacts_[i];
    double* out = D.data() + 9 * i;
    const double unit = c.eliminate_normal(soft_, out);
    if (!c.friction) continue;
    const double plus = c.plus_z + soft_ * c.plus_x, minus = c.minus_z + soft_ * c.minus_x, s = 0.5 * (plus + minus);
    c.d1 = c.e1, c.d2 = c.e2;
    c.shear = c.x0 / s;
    c.along = 0.5 * (plus - minus) / s;
    c.along_x = 0.5 * (c.plus_x - c.minus_x) / s;
    c.det = plus * (minus / s);
    const double w = 0.5 * (c.plus_x * minus + c.minus_x * plus) / s;
    c.across = 0.5 * (c.plus_x * minus - c.minus_x * plus) / s;
    c.inverse = 1.0 / (w + c.det * c.mu * c.q * c.kappa);
    // δs = s0 + s_n δu_N + s_e e·δu_T
    const double s_n = c.inverse * c.det * c.mu * c.q, s_e = -c.inverse * c.across;
    const double l_n = -c.q + c.q * c.kappa * s_n, l_e = c.q * c.kappa * s_e;
    const double t_n = -c.along * c.mu * l_n - c.along_x * s_n, t_e = -c.along * c.mu * l_e - c.along_x * s_e;  // of δλ_T along e
    out[0] = -unit * l_n;
    out[1] = -unit * l_e * c.d1;
    out[2] = -unit * l_e * c.d2;
    out[3] = -unit * c.d1 * t_n;
    out[6] = -unit * c.d2 * t_n;
    out[4] = unit * (c.shear - c.d1 * t_e * c.d1);
    out[5] = out[7] = -unit * c.d1 * t_e * c.d2;
    out[8] = unit * (c.shear - c.d2 * t_e * c.d2);
  }
}

void DiscCones::right_hand_side(double p, const double* r, GrowVector& d) {
  for (std::size_t i = 0; i < contacts_.size(); ++i, r += kUnknowns) {
    Contact& c = contacts_[i];
    double* out = d.data() + 3 * i;
    const double h = p / c.soft_a + c.q * r[0];
    if (!c.friction) {
      out[0] = h / c.scale;
      out[1] = out[2] = 0.0;
      continue;
    }
    const double r1 = r[1] * std::max(1.0, c.mu);
    c.s0 = c.inverse * (p - c.det * (c.mu * h + r1) + c.across * (c.d1 * r[2] + c.d2 * r[3]));
    const double normal = h + c.q * c.kappa * c.s0, common = c.along * (c.mu * normal + r1) + c.along_x * c.s0;
    out[0] = normal / c.scale;
    out[1] = (c.shear * r[2] - common * c.d1) / c.scale;
    out[2] = (c.shear * r[3] - common * c.d2) / c.scale;
  }
}

void DiscCones::recover(const double* r, const GrowVector& D, const GrowVector& du, GrowVector& d, double* dw) const {
  for (std::size_t i = 0; i < contacts_.size(); ++i, r += kUnknowns, dw += kUnknowns) {
    const Contact& c = contacts_[i];
    const double* v = du.data() + 3 * i;
    const double* m = D.data() + 9 * i;
    double* out = d.data() + 3 * i;
    const double inv = 1.0 / c.scale;
    double ds = 0.0;
    if (c.friction) ds = c.s0 + c.inverse * (c.det * c.mu * c.q * v[0] - c.across * (c.d1 * v[1] + c.d2 * v[2])) * inv;
    for (int row = 0; row < 3; ++row) out[row] -= m[3 * row] * v[0] + m[3 * row + 1] * v[1] + m[3 * row + 2] * v[2];
    dw[0] = c.scale * out[0] - (v[0] * inv - c.kappa * ds - r[0]);
    dw[1] = dw[2] = dw[3] = 0.0;
    if (!c.friction) continue;
    dw[1] = c.mu * c.scale * out[0] + r[1] * std::max(1.0, c.mu) - ds;
    dw[2] = c.scale * out[1] - (v[1] * inv - r[2]);
    dw[3] = c.scale * out[2] - (v[2] * inv - r[3]);
  }
}

}  // namespace stiction
