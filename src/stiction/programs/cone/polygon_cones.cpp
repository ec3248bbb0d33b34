#include <algorithm>
#include <cmath>

#include "stiction/programs/cone/smooth_cones.hpp"

namespace stiction {

void PolygonCones::bind(const ReducedProblem& problem, const SectionShape& shape, bool relaxed, const GrowVector& scale, double soft) {
  shape_ = shape;
  k_ = shape.edges();
  soft_ = soft;
  contacts_.resize(problem.contacts());
  edges_.resize(contacts_.size() * k_);
  for (int i = 0; i < problem.contacts(); ++i) {
    contacts_[i].bind(problem.mu[i], relaxed, scale[i]);
    for (int j = 0; j < k_; ++j) {
      Edge& edge = edges_[i * k_ + j];
      edge.x = shape.vertex(j)[0];
      edge.y = shape.vertex(j)[1];
    }
  }
}

// Unknowns of a contact: the normal's, t and s's, the edges'.
void PolygonCones::start(double t, double* w) const {
  for (const Contact& c : contacts_) {
    std::fill(w, w + k_ + 2, 0.0);
    const double share = c.mu / (k_ + 1);  // t = β_j = share λ_N
    if (c.friction) std::fill(w + 1, w + k_ + 2, (share - 1.0 / share) * t);
    w += k_ + 2;
  }
}

// λ_T is shared by the two vertices of its sector; s = max_j -d_j·u_T.
void PolygonCones::from_impulses(const GrowVector& lambda, const GrowVector& u, const GrowVector& offset, double* w) const {
  for (std::size_t i = 0; i < contacts_.size(); ++i, w += k_ + 2) {
    const Contact& c = contacts_[i];
    const double* l = lambda.data() + 3 * i;
    const double* v = u.data() + 3 * i;
    std::fill(w, w + k_ + 2, 0.0);
    w[0] = c.scale * l[0] - (v[0] + offset.data()[i]) / c.scale;
    if (!c.friction) continue;
    const Edge* edges = edges_.data() + i * k_;
    double s = 0.0;
    for (int j = 0; j < k_; ++j) s = std::max(s, -(edges[j].x * v[1] + edges[j].y * v[2]) / c.scale);
    w[0] += c.kappa * s;
    for (int j = 0; j < k_; ++j) w[2 + j] = -s - (edges[j].x * v[1] + edges[j].y * v[2]) / c.scale;
    const Eigen::Vector2d tangential(l[1], l[2]);
    const int first = shape_.sector(tangential).vertex % k_, second = (first + 1) % k_;
    const Edge &a = edges[first], &b = edges[second];
    const double det = a.x * b.y - a.y * b.x;
    const double of_first = c.scale * (l[1] * b.y - l[2] * b.x) / det, of_second = c.scale * (a.x * l[2] - a.y * l[1]) / det;
    w[2 + first] += of_first;
    w[2 + second] += of_second;
    w[1] = c.mu * c.scale * l[0] - of_first - of_second - s;
  }
}

void PolygonCones::place(const double* w, double nu, GrowVector& lambda) {
  for (std::size_t i = 0; i < contacts_.size(); ++i, w += k_ + 2) {
    Contact& c = contacts_[i];
    double* l = lambda.data() + 3 * i;
    c.normal.place(w[0], nu);
    l[0] = c.normal.x / c.scale;
    l[1] = l[2] = 0.0;
    if (!c.friction) continue;
    c.slip.place(w[1], nu);
    const double* each = w + 2;
    for (Edge *e = edges_.data() + i * k_, *end = e + k_; e != end; ++e) {
      e->pair.place(*each++, nu);
      l[1] += e->pair.x * e->x;
      l[2] += e->pair.x * e->y;
    }
    l[1] /= c.scale;
    l[2] /= c.scale;
  }
}

void PolygonCones::residual(const GrowVector& u, const GrowVector& offset, double* r) const {
  for (std::size_t i = 0; i < contacts_.size(); ++i, r += k_ + 2) {
    const Contact& c = contacts_[i];
    const double* v = u.data() + 3 * i;
    std::fill(r, r + k_ + 2, 0.0);
    r[0] = c.normal.z - (v[0] + offset.data()[i]) / c.scale;
    if (!c.friction) continue;
    r[0] += c.kappa * c.slip.z;
    double sum = 0.0;
    double* each = r + 2;
    for (const Edge *e = edges_.data() + i * k_, *end = e + k_; e != end; ++e) {
      sum += e->pair.x;
      *each++ = e->pair.z - c.slip.z - (e->x * v[1] + e->y * v[2]) / c.scale;
    }
    r[1] = (c.slip.x - c.mu * c.normal.x + sum) / std::max(1.0, c.mu);
  }
}

void PolygonCones::eliminate(GrowVector& D) {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Contact& c = contacts_[i];
    double* out = D.data() + 9 * i;
    const double unit = c.eliminate_normal(soft_, out);
    if (!c.friction) continue;
    double q = 0.0, h11 = 0.0, h12 = 0.0, h22 = 0.0;
    c.g1 = c.g2 = 0.0;
    for (Edge *e = edges_.data() + i * k_, *end = e + k_; e != end; ++e) {
      e->soft = e->pair.z + soft_ * e->pair.x;
      e->q = e->pair.x / e->soft;
      const double qx = e->q * e->x, qy = e->q * e->y;
      q += e->q;
      c.g1 += qx;
      c.g2 += qy;
      h11 += qx * e->x;
      h12 += qx * e->y;
      h22 += qy * e->y;
    }
    c.soft_s = c.slip.z + soft_ * c.slip.x;
    c.qt = c.slip.x / c.soft_s;
    // δt = ... - qt δs, δβ_j = ... - q_j (δs + d_j·δu_T); μ δλ_N - Σ δβ - δt = ...
    c.inverse = 1.0 / (c.qt + q + c.mu * c.kappa * c.q);
    const double s_n = c.inverse * c.mu * c.q, s_1 = -c.inverse * c.g1, s_2 = -c.inverse * c.g2;
    out[0] = unit * (c.q - c.q * c.kappa * s_n);
    out[1] = -unit * c.q * c.kappa * s_1;
    out[2] = -unit * c.q * c.kappa * s_2;
    out[3] = unit * c.g1 * s_n;
    out[4] = unit * (h11 + c.g1 * s_1);
    out[5] = unit * (h12 + c.g1 * s_2);
    out[6] = unit * c.g2 * s_n;
    out[7] = unit * (h12 + c.g2 * s_1);
    out[8] = unit * (h22 + c.g2 * s_2);
  }
}

void PolygonCones::right_hand_side(double p, const double* r, GrowVector& d) {
  for (std::size_t i = 0; i < contacts_.size(); ++i, r += k_ + 2) {
    Contact& c = contacts_[i];
    double* out = d.data() + 3 * i;
    const double h = p / c.soft_a + c.q * r[0];
    if (!c.friction) {
      out[0] = h / c.scale;
      out[1] = out[2] = 0.0;
      continue;
    }
    double sum = 0.0, v1 = 0.0, v2 = 0.0;
    const double* each = r + 2;
    for (Edge *e = edges_.data() + i * k_, *end = e + k_; e != end; ++e) {
      e->d = p / e->soft + e->q * *each++;
      sum += e->d;
      v1 += e->d * e->x;
      v2 += e->d * e->y;
    }
    c.c = p / c.soft_s;
    c.s0 = c.inverse * (c.c + sum - c.mu * h + r[1] * std::max(1.0, c.mu));
    out[0] = (h + c.q * c.kappa * c.s0) / c.scale;
    out[1] = (v1 - c.g1 * c.s0) / c.scale;
    out[2] = (v2 - c.g2 * c.s0) / c.scale;
  }
}

void PolygonCones::recover(const double* r, const GrowVector& D, const GrowVector& du, GrowVector& d, double* dw) const {
  for (std::size_t i = 0; i < contacts_.size(); ++i, r += k_ + 2, dw += k_ + 2) {
    const Contact& c = contacts_[i];
    const double* v = du.data() + 3 * i;
    const double* m = D.data() + 9 * i;
    double* out = d.data() + 3 * i;
    const double inv = 1.0 / c.scale;
    for (int row = 0; row < 3; ++row) out[row] -= m[3 * row] * v[0] + m[3 * row + 1] * v[1] + m[3 * row + 2] * v[2];
    std::fill(dw, dw + k_ + 2, 0.0);
    double ds = 0.0;
    if (c.friction) {
      ds = c.s0 + c.inverse * (c.mu * c.q * v[0] - c.g1 * v[1] - c.g2 * v[2]) * inv;
      dw[1] = c.c - c.qt * ds - ds;
      for (int j = 0; j < k_; ++j) {
        const Edge& e = edges_[i * k_ + j];
        const double step = ds + (e.x * v[1] + e.y * v[2]) * inv;
        dw[j + 2] = e.d - e.q * step - (step - r[j + 2]);
      }
    }
    dw[0] = c.scale * out[0] - (v[0] * inv - c.kappa * ds - r[0]);
  }
}

}  // namespace stiction
