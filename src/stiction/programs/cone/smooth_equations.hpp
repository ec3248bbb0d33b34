// The equations r(w, ν) = 0 of smooth_cones.hpp at all contacts and rows of a problem, with the velocities that follow from w, and their
// linear systems in the r-space. The central path and the smoothing Newton both work on them.
#pragma once

#include "stiction/programs/cone/memory.hpp"

namespace stiction {

template <class Cones>
class SmoothEquations {
 public:
  SmoothEquations(const ReducedProblem& problem, ConeMemory& memory, Cones& cones)
      : problem_(problem), m_(memory), cones_(cones), contacts_(cones.unknowns()) {
    const Eigen::Index unknowns = contacts_ + m_.boxes.unknowns();
    for (GrowVector* v : {&m_.point, &m_.trial, &m_.kept, &m_.residual, &m_.first_residual, &m_.wanted, &m_.correction, &m_.tangent})
      v->setZero(unknowns);
  }

  /// w of the point whose impulses and velocities are all `size` (sqrt of an energy).
  void start(double size, GrowVector& w) const {
    cones_.start(size, w.data());
    m_.boxes.start(size, w.data() + contacts_);
  }

  /// w of the current impulses and velocities, which must be in place.
  void from_impulses(GrowVector& w) const {
    cones_.from_impulses(m_.lambda, m_.u, problem_.offset, w.data());
    m_.boxes.from_impulses(m_.beta, m_.w, w.data() + contacts_);
  }

  /// r at w, in memory.residual, with the impulses and velocities of that point.
  void evaluate(const GrowVector& w, double nu) {
    cones_.place(w.data(), nu, m_.lambda);
    m_.boxes.place(w.data() + contacts_, nu, m_.beta);
    if (problem_.defect.size() > 0) update_shift(problem_, m_);
    place(problem_, m_);
    cones_.residual(m_.u, problem_.offset, m_.residual.data());
    m_.boxes.residual(m_.w, m_.residual.data() + contacts_);
  }

  /// Factors the derivative by w at the point evaluated last. False when it is singular.
  bool factor() {
    cones_.eliminate(m_.D);
    m_.boxes.eliminate(m_.Db);
    --m_.budget;
    return m_.space.factor(m_.D, m_.Db);
  }

  /// The change of w that changes r by -memory.wanted where the products ν² change by p.
  void direction(double p, GrowVector& out) {
    cones_.right_hand_side(p, m_.wanted.data(), m_.dlambda);
    m_.boxes.right_hand_side(p, m_.wanted.data() + contacts_, m_.dbeta);
    m_.space.gather(m_.dlambda, m_.dbeta, m_.dy);
    m_.space.solve(m_.dy);
    m_.space.velocities(m_.dy, m_.du, m_.dw);
    cones_.recover(m_.wanted.data(), m_.D, m_.du, m_.dlambda, out.data());
    m_.boxes.recover(p, m_.wanted.data() + contacts_, m_.Db, m_.dw, m_.dbeta, out.data() + contacts_);
  }

 private:
  const ReducedProblem& problem_;
  ConeMemory& m_;
  Cones& cones_;
  const Eigen::Index contacts_;  // their unknowns; those of the rows follow
};

}  // namespace stiction
