#include <algorithm>
#include <cmath>

#include "stiction/programs/cone/interior_cones.hpp"

namespace stiction {

namespace {

std::size_t at(Eigen::Index i) { return static_cast<std::size_t>(i); }

// Shortens the step from x along d to where it leaves the second-order cone: smallest positive root of det(x + step d). The cone is convex,
// so a step that ends inside needs no root.
void shorten(double x0, double x1, double x2, double d0, double d1, double d2, double& step) {
  const double y0 = x0 + step * d0, y1 = x1 + step * d1, y2 = x2 + step * d2;
  if (y0 > 0.0 && y0 * y0 > y1 * y1 + y2 * y2) return;
  const double norm = std::sqrt(x1 * x1 + x2 * x2);
  const double a = d0 * d0 - d1 * d1 - d2 * d2, b = x0 * d0 - x1 * d1 - x2 * d2, c = (x0 - norm) * (x0 + norm);
  stiction::shorten(x0, d0, step);
  const double discriminant = b * b - a * c;
  if (a < 0.0 || (b < 0.0 && discriminant >= 0.0)) {
    const double root = std::sqrt(std::max(discriminant, 0.0));
    const double candidate = b <= 0.0 ? c / (root - b) : -(b + root) / a;
    if (candidate >= 0.0) step = std::min(step, candidate);
  }
}

}  // namespace

void DiscCones::bind(const ReducedProblem& problem, bool relaxed) {
  contacts_.resize(at(problem.contacts()));
  count_ = 0;
  for (int i = 0; i < problem.contacts(); ++i) {
    Contact& x = contacts_[at(i)];
    x.mu = std::min(problem.mu[i], kInteriorInfinity);
    x.kappa = relaxed ? x.mu : 0.0;
    x.friction = x.mu > 0.0;
    count_ += x.friction ? 2 : 1;
  }
}

void DiscCones::start(const GrowVector& scale, const GrowVector& offset, double t, const GrowVector& u, const GrowVector&) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& x = contacts_[i];
    x.offset = offset.data()[i];
    const Eigen::Index row = 3 * static_cast<Eigen::Index>(i);
    const double size = t * scale[static_cast<Eigen::Index>(i)];
    x.s = x.friction ? std::max(size, 2.0 * std::hypot(u[row + 1], u[row + 2])) : 0.0;
    x.a = std::max(size, u[row] + x.offset);
  }
}

void DiscCones::couple(double part) {
  for (Contact& x : contacts_) x.kappa = part * x.mu;
}

void DiscCones::eliminate(const GrowVector& u, const GrowVector& lambda, GrowVector& D) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& x = contacts_[i];
    const double* v = u.data() + 3 * i;
    const double* l = lambda.data() + 3 * i;
    double* out = D.data() + 9 * i;
    x.inv_a = 1.0 / x.a;
    const double q = l[0] * x.inv_a;
    if (!x.friction) {
      std::fill(out, out + 9, 0.0);
      out[0] = q;
      continue;
    }
    const double norm = std::sqrt(v[1] * v[1] + v[2] * v[2]);
    const double x0 = x.mu * l[0];
    x.inv_s = 1.0 / x.s;
    x.det = x.mu * (x.s - norm) * (x.s + norm) * x.inv_s;
    const double w = x0 - (l[1] * v[1] + l[2] * v[2]) * x.inv_s;
    x.inv_w = 1.0 / (w + x.det * x.kappa * q);
    x.e1 = l[1] - x0 * x.inv_s * v[1];
    x.e2 = l[2] - x0 * x.inv_s * v[2];
    const double s_n = x.inv_w * x.det * q, s_1 = -x.inv_w * x.e1, s_2 = -x.inv_w * x.e2;
    const double l_n = -q + q * x.kappa * s_n, l_1 = q * x.kappa * s_1, l_2 = q * x.kappa * s_2;
    const double z1 = x.mu * v[1] * x.inv_s, z2 = x.mu * v[2] * x.inv_s, p1 = l[1] * x.inv_s, p2 = l[2] * x.inv_s, p0 = x0 * x.inv_s;
    out[0] = -l_n;
    out[1] = -l_1;
    out[2] = -l_2;
    out[3] = z1 * l_n + p1 * s_n;
    out[4] = z1 * l_1 + p1 * s_1 + p0;
    out[5] = z1 * l_2 + p1 * s_2;
    out[6] = z2 * l_n + p2 * s_n;
    out[7] = z2 * l_1 + p2 * s_1;
    out[8] = z2 * l_2 + p2 * s_2 + p0;
  }
}

void DiscCones::right_hand_side(const Target& target, const GrowVector& u, const GrowVector& lambda, GrowVector& d) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& x = contacts_[i];
    const double* v = u.data() + 3 * i;
    const double* l = lambda.data() + 3 * i;
    double* out = d.data() + 3 * i;  // holds the last direction until it is overwritten
    const double residual = x.a - (v[0] + x.offset - x.kappa * x.s);
    double c1 = target.m * x.weight - x.a * l[0];
    if (target.second_order) c1 -= x.da * out[0];
    const double h = x.inv_a * (c1 + l[0] * residual);
    if (!x.friction) {
      out[0] = h;
      out[1] = -l[1];
      out[2] = -l[2];
      continue;
    }
    const double x0 = x.mu * l[0];
    double c20 = target.m * x.weight - x0 * x.s - l[1] * v[1] - l[2] * v[2];
    double c21 = -x0 * v[1] - x.s * l[1];
    double c22 = -x0 * v[2] - x.s * l[2];
    if (target.second_order) {
      const double dx0 = x.mu * out[0];
      c20 -= dx0 * x.ds + out[1] * x.du1 + out[2] * x.du2;
      c21 -= dx0 * x.du1 + x.ds * out[1];
      c22 -= dx0 * x.du2 + x.ds * out[2];
    }
    x.s0 = x.inv_w * (c20 - x.inv_s * (v[1] * c21 + v[2] * c22) - x.det * h);
    out[0] = h + l[0] * x.inv_a * x.kappa * x.s0;
    out[1] = x.inv_s * (c21 - v[1] * x.mu * out[0] - l[1] * x.s0);
    out[2] = x.inv_s * (c22 - v[2] * x.mu * out[0] - l[2] * x.s0);
  }
}

double DiscCones::recover(const GrowVector& D, const GrowVector& u, const GrowVector& lambda, const GrowVector& du, GrowVector& d) {
  double step = kLongestStep;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& x = contacts_[i];
    const double* v = u.data() + 3 * i;
    const double* l = lambda.data() + 3 * i;
    const double* dv = du.data() + 3 * i;
    const double* m = D.data() + 9 * i;
    double* out = d.data() + 3 * i;
    const double residual = x.a - (v[0] + x.offset - x.kappa * x.s);
    for (int row = 0; row < 3; ++row) out[row] -= m[3 * row] * dv[0] + m[3 * row + 1] * dv[1] + m[3 * row + 2] * dv[2];
    if (x.friction) {
      x.ds = x.s0 + x.inv_w * (x.det * l[0] * x.inv_a * dv[0] - x.e1 * dv[1] - x.e2 * dv[2]);
      x.du1 = dv[1];
      x.du2 = dv[2];
      shorten(x.mu * l[0], l[1], l[2], x.mu * out[0], out[1], out[2], step);
      shorten(x.s, v[1], v[2], x.ds, dv[1], dv[2], step);
    } else {
      x.ds = 0.0;
    }
    x.da = dv[0] - x.kappa * x.ds - residual;
    shorten(l[0], out[0], step);
    shorten(x.a, x.da, step);
  }
  return step;
}

double DiscCones::products(double step, const GrowVector& u, const GrowVector& lambda, const GrowVector& du,
                           const GrowVector& dlambda) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& x = contacts_[i];
    const auto part = [&](const GrowVector& value, const GrowVector& change, std::size_t k) {
      return value.data()[3 * i + k] + step * change.data()[3 * i + k];
    };
    const double normal = part(lambda, dlambda, 0);
    sum += (x.a + step * x.da) * normal;
    if (x.friction) {
      sum += x.mu * normal * (x.s + step * x.ds) + part(lambda, dlambda, 1) * part(u, du, 1) + part(lambda, dlambda, 2) * part(u, du, 2);
    }
  }
  return sum;
}

double DiscCones::smallest(double step, const GrowVector& u, const GrowVector& lambda, const GrowVector& du,
                           const GrowVector& dlambda) const {
  double least = kInfinity;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& x = contacts_[i];
    const auto part = [&](const GrowVector& value, const GrowVector& change, std::size_t k) {
      return value.data()[3 * i + k] + step * change.data()[3 * i + k];
    };
    const double normal = part(lambda, dlambda, 0);
    least = std::min(least, (x.a + step * x.da) * normal / x.weight);
    if (!x.friction) continue;
    const double force = std::hypot(part(lambda, dlambda, 1), part(lambda, dlambda, 2));
    const double speed = std::hypot(part(u, du, 1), part(u, du, 2));
    const double radius = x.mu * normal, s = x.s + step * x.ds;
    const double determinants = (radius - force) * (radius + force) * (s - speed) * (s + speed);
    least = std::min(least, std::sqrt(std::max(determinants, 0.0)) / x.weight);
  }
  return least;
}

void DiscCones::relative(const GrowVector& lambda, const GrowVector& dlambda, GrowVector& out) const {
  out.setZero(relative_size());
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& x = contacts_[i];
    const double* l = lambda.data() + 3 * i;
    const double* dl = dlambda.data() + 3 * i;
    double* to = out.data() + 7 * i;
    to[0] = dl[0] / l[0];
    to[1] = x.da / x.a;
    if (!x.friction) continue;
    to[2] = dl[1] / (x.mu * l[0]);
    to[3] = dl[2] / (x.mu * l[0]);
    to[4] = x.ds / x.s;
    to[5] = x.du1 / x.s;
    to[6] = x.du2 / x.s;
  }
}

void DiscCones::advance(double step) {
  for (Contact& x : contacts_) {
    x.a += step * x.da;
    x.s += step * x.ds;
  }
}

}  // namespace stiction
