#include <algorithm>
#include <cmath>

#include "stiction/programs/cone/interior_cones.hpp"

namespace stiction {

namespace {

std::size_t at(Eigen::Index i) { return static_cast<std::size_t>(i); }

}  // namespace

void PolygonCones::bind(const ReducedProblem& problem, const SectionShape& shape, bool relaxed) {
  k_ = shape.edges();
  contacts_.resize(at(problem.contacts()));
  edges_.resize(contacts_.size() * at(k_));
  count_ = 0;
  for (int i = 0; i < problem.contacts(); ++i) {
    Contact& x = contacts_[at(i)];
    x.mu = std::min(problem.mu[i], kInteriorInfinity);
    x.kappa = relaxed ? x.mu : 0.0;
    x.friction = x.mu > 0.0;
    x.s = x.t = x.ds = x.dt = 0.0;
    count_ += x.friction ? k_ + 2 : 1;
    for (int j = 0; j < k_; ++j) {
      Edge& edge = edges_[at(i * k_ + j)];
      edge.x = shape.vertex(j)[0];
      edge.y = shape.vertex(j)[1];
    }
  }
}

void PolygonCones::start(const GrowVector& scale, const GrowVector& offset, double t, const GrowVector& u, const GrowVector& lambda) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& x = contacts_[i];
    x.offset = offset.data()[i];
    const double* v = u.data() + 3 * i;
    const double size = t * scale.data()[i];
    x.a = std::max(size, v[0] + x.offset);
    if (!x.friction) continue;
    const double share = x.mu * lambda.data()[3 * i] / (k_ + 1);
    x.t = share;
    x.s = std::max(size, 2.0 * std::hypot(v[1], v[2]));
    for (int j = 0; j < k_; ++j) {
      Edge& edge = edges_[i * at(k_) + at(j)];
      edge.beta = share;
      edge.w = x.s + edge.x * v[1] + edge.y * v[2];
    }
  }
}

void PolygonCones::couple(double part) {
  for (Contact& x : contacts_) x.kappa = part * x.mu;
}

void PolygonCones::eliminate(const GrowVector&, const GrowVector& lambda, GrowVector& D) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& x = contacts_[i];
    double* out = D.data() + 9 * i;
    x.inv_a = 1.0 / x.a;
    const double q_n = lambda.data()[3 * i] * x.inv_a;
    if (!x.friction) {
      std::fill(out, out + 9, 0.0);
      out[0] = q_n;
      continue;
    }
    double q = 0.0, h11 = 0.0, h12 = 0.0, h22 = 0.0;
    x.g1 = x.g2 = 0.0;
    for (Edge *e = edges_.data() + i * at(k_), *end = e + k_; e != end; ++e) {
      e->q = e->beta / e->w;
      const double qx = e->q * e->x, qy = e->q * e->y;
      q += e->q;
      x.g1 += qx;
      x.g2 += qy;
      h11 += qx * e->x;
      h12 += qx * e->y;
      h22 += qy * e->y;
    }
    // Both sides of the row of s are divided by s, which may tend to zero: w = t/s + Σ q + μ κ λ_N / a.
    x.inv_w = 1.0 / (x.t / x.s + q + x.mu * x.kappa * q_n);
    const double s_n = x.inv_w * x.mu * q_n, s_1 = -x.inv_w * x.g1, s_2 = -x.inv_w * x.g2;
    out[0] = q_n - q_n * x.kappa * s_n;
    out[1] = -q_n * x.kappa * s_1;
    out[2] = -q_n * x.kappa * s_2;
    out[3] = x.g1 * s_n;
    out[4] = h11 + x.g1 * s_1;
    out[5] = h12 + x.g1 * s_2;
    out[6] = x.g2 * s_n;
    out[7] = h12 + x.g2 * s_1;
    out[8] = h22 + x.g2 * s_2;
  }
}

void PolygonCones::right_hand_side(const Target& target, const GrowVector& u, const GrowVector& lambda, GrowVector& d) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& x = contacts_[i];
    const double* l = lambda.data() + 3 * i;
    double* out = d.data() + 3 * i;  // holds the last direction until it is overwritten
    const double residual = x.a - (u.data()[3 * i] + x.offset - x.kappa * x.s);
    double c1 = target.m * x.weight - x.a * l[0];
    if (target.second_order) c1 -= x.da * out[0];
    const double h = x.inv_a * (c1 + l[0] * residual);
    if (!x.friction) {
      out[0] = h;
      out[1] = -l[1];
      out[2] = -l[2];
      continue;
    }
    double c3 = target.m * x.weight - x.t * x.s;
    if (target.second_order) c3 -= x.dt * x.ds;
    x.c = 0.0;
    double v1 = 0.0, v2 = 0.0;
    for (Edge *e = edges_.data() + i * at(k_), *end = e + k_; e != end; ++e) {
      e->c = target.m * x.weight - e->beta * e->w;
      if (target.second_order) e->c -= e->dbeta * e->dw;
      e->c /= e->w;
      x.c += e->c;
      v1 += e->c * e->x;
      v2 += e->c * e->y;
    }
    x.s0 = x.inv_w * (c3 / x.s + x.c - x.mu * h);
    out[0] = h + l[0] * x.inv_a * x.kappa * x.s0;
    out[1] = v1 - x.g1 * x.s0;
    out[2] = v2 - x.g2 * x.s0;
  }
}

double PolygonCones::recover(const GrowVector& D, const GrowVector& u, const GrowVector& lambda, const GrowVector& du, GrowVector& d) {
  double step = kLongestStep;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& x = contacts_[i];
    const double* l = lambda.data() + 3 * i;
    const double* dv = du.data() + 3 * i;
    const double* m = D.data() + 9 * i;
    double* out = d.data() + 3 * i;
    const double residual = x.a - (u.data()[3 * i] + x.offset - x.kappa * x.s);
    for (int row = 0; row < 3; ++row) out[row] -= m[3 * row] * dv[0] + m[3 * row + 1] * dv[1] + m[3 * row + 2] * dv[2];
    if (x.friction) {
      x.ds = x.s0 + x.inv_w * (x.mu * l[0] * x.inv_a * dv[0] - x.g1 * dv[1] - x.g2 * dv[2]);
      double sum = 0.0;
      for (Edge *e = edges_.data() + i * at(k_), *end = e + k_; e != end; ++e) {
        e->dw = x.ds + e->x * dv[1] + e->y * dv[2];
        e->dbeta = e->c - e->q * e->dw;
        sum += e->dbeta;
        shorten(e->beta, e->dbeta, step);
        shorten(e->w, e->dw, step);
      }
      x.dt = x.mu * out[0] - sum;
      shorten(x.t, x.dt, step);
      shorten(x.s, x.ds, step);
    }
    x.da = dv[0] - x.kappa * x.ds - residual;
    shorten(l[0], out[0], step);
    shorten(x.a, x.da, step);
  }
  return step;
}

double PolygonCones::products(double step, const GrowVector&, const GrowVector& lambda, const GrowVector&,
                              const GrowVector& dlambda) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& x = contacts_[i];
    sum += (x.a + step * x.da) * (lambda.data()[3 * i] + step * dlambda.data()[3 * i]);
    if (!x.friction) continue;
    sum += (x.t + step * x.dt) * (x.s + step * x.ds);
    for (const Edge *e = edges_.data() + i * at(k_), *end = e + k_; e != end; ++e)
      sum += (e->beta + step * e->dbeta) * (e->w + step * e->dw);
  }
  return sum;
}

double PolygonCones::smallest(double step, const GrowVector&, const GrowVector& lambda, const GrowVector&,
                              const GrowVector& dlambda) const {
  double least = kInfinity;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& x = contacts_[i];
    least = std::min(least, (x.a + step * x.da) * (lambda.data()[3 * i] + step * dlambda.data()[3 * i]) / x.weight);
    if (!x.friction) continue;
    least = std::min(least, (x.t + step * x.dt) * (x.s + step * x.ds) / x.weight);
    for (const Edge *e = edges_.data() + i * at(k_), *end = e + k_; e != end; ++e)
      least = std::min(least, (e->beta + step * e->dbeta) * (e->w + step * e->dw) / x.weight);
  }
  return least;
}

void PolygonCones::relative(const GrowVector& lambda, const GrowVector& dlambda, GrowVector& out) const {
  const std::size_t each = 4 + 2 * at(k_);
  out.setZero(relative_size());
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& x = contacts_[i];
    double* to = out.data() + each * i;
    *to++ = dlambda.data()[3 * i] / lambda.data()[3 * i];
    *to++ = x.da / x.a;
    if (!x.friction) continue;
    *to++ = x.dt / x.t;
    *to++ = x.ds / x.s;
    for (const Edge *e = edges_.data() + i * at(k_), *end = e + k_; e != end; ++e) {
      *to++ = e->dbeta / e->beta;
      *to++ = e->dw / e->w;
    }
  }
}

void PolygonCones::advance(double step) {
  for (Contact& x : contacts_) {
    x.a += step * x.da;
    x.s += step * x.ds;
    x.t += step * x.dt;
  }
  for (Edge& e : edges_) {
    e.beta += step * e.dbeta;
    e.w += step * e.dw;
  }
}

}  // namespace stiction
