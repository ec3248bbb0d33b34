// Bounces that would give energy.
//
// Newton's restitution asks u_N⁺ = -ε u_N⁻ of each contact, whatever that costs. Beside friction the impulses may then give energy [Kane,
// Levinson, Dynamics, 1985]; beside u_T⁺ = 0, or cones so wide that they come near it, without bound: two points of a body a hair apart
// whose normals differ are to leave along both, and only a turn about a lever of that hair does. Contacts can but take. Of each part of a
// problem that they connect
//
//   W = Σ λ_i · (u_i⁻ + u_i⁺)/2 <= 0,   which every rigid law keeps at ε = 0 where no force turns a contact back within the step.
//
// A part that breaks this, and does not at ε = 0, has its restitution times s, the largest at which W(s) = 0 with λ and u in a line between
// those at ε = 0 and at ε: exact where contacts stick, slip and leave alike in both. Where they do not, or no motion bounces as asked, s is
// zero.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "stiction/base/disjoint_sets.hpp"
#include "stiction/problem/contact_problem.hpp"
#include "stiction/problem/solution.hpp"

namespace stiction {

class Bounces {
 public:
  /// A step begins: restitution is what the contacts have.
  void start();
  /// Onto the restitution of a problem's contacts, by their ids.
  void apply(ContactProblem& problem) const;
  /// Whether a problem, whose contacts without laws of their own follow `law`, is to be solved again with other shares (`apply`) after
  /// this solution of it; `taken`: it is good enough to go on with.
  bool weaken(const ContactProblem& problem, Law law, const Solution& solution, bool taken);

 private:
  enum class Stage { asked, without, scaled, done };
  struct Part {
    bool gives = false;                 ///< as asked
    double share = 1.0;                 ///< s
    double asked = 0.0, allowed = 0.0;  ///< W at s = 1, and the most that it may be (J)
    double work = 0.0, slack = 0.0;     ///< W of a solution, and what of it is rounding (J)

    bool gives_energy() const;
  };
  bool find_parts(const ContactProblem& problem, Law law);
  void measure(const ContactProblem& problem, const Solution& solution);
  bool find_givers(const ContactProblem& problem, const Solution& solution, bool taken);
  void find_shares(const ContactProblem& problem, const Solution& solution);
  void set_shares(const ContactProblem& problem);

  Stage stage_ = Stage::asked;
  bool compares_ = false;           ///< what was asked for has a solution: `u_`, `impulses_`
  std::vector<std::uint64_t> ids_;  ///< of contacts that bounce less than asked
  std::vector<double> shares_;
  DisjointSets sets_;
  std::vector<int> part_of_;                       ///< of a contact, a block of M; -1: of a law without restitution
  std::vector<Part> parts_;                        ///< by the first block of each
  std::vector<std::pair<double, double>> slopes_;  ///< of W(s), of a part
  GrowVector before_, u_, impulses_;               ///< 3n: u⁻, and u⁺ and λ as asked
};

}  // namespace stiction
