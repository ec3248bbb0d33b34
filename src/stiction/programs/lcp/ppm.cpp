#include "stiction/programs/lcp/ppm.hpp"

namespace stiction {

namespace {

class PrincipalPivoting : ActiveRows {
 public:
  using ActiveRows::ActiveRows;

  Status run(std::span<const int> warm) {
    if (q_.size() > 0 && q_.minCoeff() < 0.0) start_from(warm);  // lines 2 to 9
    const Status outcome = pivot();
    const Status final_point = finish();
    return outcome == Status::solved ? final_point : outcome;
  }

 private:
  Status pivot() {
    if (unreachable_row() >= 0) {
      most_violated();
      return Status::inaccurate;
    }
    while (true) {
      solve_active();  // lines 11 to 13
      const int enters = most_violated(), leaves = most_negative();
      if (enters < 0 && leaves < 0) return Status::solved;
      if (solution_.pivots >= max_pivots_) return Status::iteration_limit;
      if (leaves >= 0) {  // lines 18 to 23, 33 to 37
        remove(leaves);
        ++solution_.pivots;
      }
      if (enters >= 0) {  // lines 31 and 32
        if (!append(enters)) return Status::inaccurate;
        ++solution_.pivots;
      }
    }
  }
};

}  // namespace

void ppm(const Eigen::Ref<const RowMatrix>& A, const Eigen::Ref<const Eigen::VectorXd>& q, std::span<const int> warm,
         const LowRankLcpOptions& options, LowRankLcpWorkspace& workspace, LowRankLcpSolution& solution) {
  solution.status = PrincipalPivoting(A, q, options, workspace, solution).run(warm);
}

}  // namespace stiction
