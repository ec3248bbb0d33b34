// What acted over a whole step: impulses of the parts or pieces that it was taken in, summed in world axes by the names of contacts and
// rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/geometry/contact_point.hpp"
#include "stiction/problem/contact_mode.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// Contacts of a step, with means over all of it: of a body the impulses add up to its change of momentum less that by all else, whatever
/// parts the step was taken in. Their moment is that about the points listed only as far as these stayed in their places, and that of a
/// contact whose normal or slip turned from part to part need not be on the cone of the frame listed.
struct StepForces {
  std::vector<ContactPoint> points;  ///< n: those of the last part, then what bore in earlier ones and is not among them, as it was then
  GrowVector impulses;               ///< 3n, N S T on body A in the frames listed (N s), of the whole step
  GrowVector velocities;             ///< 3n, N S T of A against B after the step (m/s)
  std::vector<double> mu;            ///< n, friction, infinity allowed
  std::vector<ContactMode> modes;    ///< n, those of the last part in which they bore; open: in none
  double dt = 0.0;                   ///< s, of the whole step

  /// Mean over the step on body A of contact i, world axes (N).
  Eigen::Vector3d force(std::size_t i) const { return points[i].R_WC() * impulses.segment<3>(3 * static_cast<Eigen::Index>(i)) / dt; }
};

class StepImpulses {
 public:
  /// Begins anew; `equalities`: rows that the world's loops and couplings have at the end of every problem (equality_rows.hpp).
  void start(Eigen::Index equalities);
  void add_contact(const ContactPoint& point, const Eigen::Vector3d& impulse_W);
  void add_row(std::uint64_t id, double impulse);
  template <class Impulses>
  void add_equalities(const Impulses& impulses) {
    equalities_ += impulses;
  }
  /// Those of contacts, or of rows, of a solved part.
  void add_contacts(std::span<const ContactPoint> contacts, const ContactProblem& problem, const Solution& solution);
  void add_rows(const ContactProblem& problem, const Solution& solution);

  /// Appends the contacts that were added and are not listed, as they were then.
  void add_left(std::vector<ContactPoint>& contacts) const;
  /// Fills the sums into a solution of this problem, by the names of its contacts and rows.
  void impulses_of(std::span<const ContactPoint> contacts, const ContactProblem& problem, Solution& solution) const;
  /// Of what lists the last part that was added: puts the sums in the place of its impulses, and appends what bore before it and is not
  /// listed, with velocities of zero.
  void complete(StepForces& forces) const;
  /// How many contacts that appends.
  int count_left() const;

 private:
  struct Contact {
    ContactPoint point;       ///< as it was last
    Eigen::Vector3d impulse;  ///< N s, world axes
    double mu = 0.0;
    ContactMode mode = ContactMode::open;  ///< of the last part in which it bore
    int part = 0;                          ///< the last that listed it
  };
  struct Row {
    std::uint64_t id;
    double impulse;
  };
  std::size_t place_of(std::uint64_t id, std::size_t likely = 0) const;
  Contact& contact(const ContactPoint& point, std::size_t likely = 0);
  bool is_left(const Contact& x) const { return x.part < part_ && x.impulse.squaredNorm() > 0.0; }

  std::vector<Contact> contacts_;
  std::vector<Row> rows_;
  GrowVector equalities_;
  int part_ = 0;  ///< number of those added
};

}  // namespace stiction
