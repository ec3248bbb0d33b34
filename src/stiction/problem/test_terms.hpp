// Terms of all contacts alike, for tests that need no law.
#pragma once

#include "stiction/problem/contact_terms.hpp"
#include "stiction/problem/reduced.hpp"

namespace stiction {

struct TestLaw {
  Family family = Family::coulomb;
  int edges = 0;
  double friction = -1.0;      ///< in place of the problem's own mu, when >= 0
  bool needs_contact = false;  ///< frictionless where the contact is open
};

inline void offset_of(const ContactProblem& p, GrowVector& offset) { normal_offset(p, offset); }
inline void offset_of(const ReducedProblem& p, GrowVector& offset) { offset = p.offset; }
inline void closed_of(const ContactProblem& p, std::vector<char>& closed) { find_closed(p, closed); }
inline void closed_of(const ReducedProblem& p, std::vector<char>& closed) { closed = p.closed; }

template <class Problem>
LawTerms terms_of(const Problem& p, const TestLaw& law = {}) {
  GrowVector offset;
  std::vector<char> closed;
  offset_of(p, offset);
  closed_of(p, closed);
  LawTerms out{law.family, law.edges, {}};
  for (int i = 0; i < p.contacts(); ++i) {
    ContactTerms t;
    t.coulomb = law.family == Family::coulomb;
    t.mu = law.needs_contact && closed[i] == 0 ? 0.0 : (law.friction >= 0.0 ? law.friction : p.mu[i]);
    t.offset[0] = offset[i];
    out.contacts.push_back(t);
  }
  return out;
}

}  // namespace stiction
