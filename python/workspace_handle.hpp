// What solves remember from one call for the next, as Python holds it.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "solved.hpp"
#include "stiction/laws/warm_start.hpp"

namespace stiction::python {

class WorkspaceHandle {
 public:
  WorkspaceHandle() = default;
  WorkspaceHandle(const WorkspaceHandle& other);

  /// `solve(memory)`, which returns a Solved and starts from what the memory has. last: λ_ref of choice closest_to_last and start; empty:
  /// the impulses that the last call returned, by the names of contacts. Throws InvalidArgument while another thread is in it.
  template <class Problem, class Solve>
  Solved run(const Problem& problem, const Eigen::VectorXd& last, Solve solve) {
    const std::unique_lock lock = only_user();
    if (last.size() > 0) {
      start_from(problem.ids, last, memory_.solve);
    } else {
      last_.recall(problem.ids, problem.contacts(), memory_.solve.choice.last);
    }
    Solved s = solve(memory_);
    if (s.status == Status::solved) {
      last_.keep(problem.ids, s.impulses);
    } else {
      start_cold();  // iterations that went astray would go on from there
    }
    return s;
  }

  void forget();
  /// All that later calls start from, as bytes, and back. Throws InvalidArgument on other bytes.
  std::string memory();
  void remember(std::string_view bytes);

 private:
  std::unique_lock<std::mutex> only_user() const;
  void start_cold();
  template <class Archive>
  void carry(Archive& archive);

  mutable std::mutex mutex_;
  InverseWorkspace memory_;  ///< that of `solve` too
  NamedImpulses last_{3};    ///< as they were returned: stage II's too
};

}  // namespace stiction::python
