// Linear programs over a slice of a product of three-dimensional cones, for the indeterminacy of contact impulses. Internal.
//
//   max Σ c_i·λ_i   s.t.   Σ A_i λ_i = b,  λ_i ∈ K_i          A_i k x 3, K_i spanned by a few rays, or a circular cone
//
// Revised simplex with a dense inverse. Columns are extreme rays A_i g of the cones; the one that enters has the largest reduced cost
// (c_i - A_iᵀπ)·g over *all* rays, for the circular cone in closed form: g = (1, μ d), d along the tangential reduced cost. Every
// iterate is feasible, and Σ_i (largest reduced cost of K_i) λ_N,i bounds what is left to gain. It starts from a given point, crossed over
// to a vertex, without a phase one. Ratio test of Harris (1973), the largest pivot among near ties; and the lexicographic rule once a run
// of degenerate pivots is suspiciously long.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace stiction {

struct ContactCone {
  bool disc = false;                          ///< the circular cone |λ_T| <= mu λ_N; `generators` and `facets` are then empty
  double mu = 0.0;                            ///< of the disc
  std::vector<Eigen::Vector3d> generators{};  ///< extreme rays; none: the cone is {0}
  std::vector<Eigen::Vector3d> facets{};      ///< inward normals f·λ >= 0 within the span of the generators

  bool empty() const { return !disc && generators.empty(); }
};

/// A conic combination: λ = Σ weight * ray.
struct WeightedRay {
  int contact;
  Eigen::Vector3d ray;
  double weight;
};

class ConeLp {
 public:
  enum class Outcome { optimal, unbounded, pivot_limit };

  /// `A` k x 3n of full row rank k over the spans of the cones; `start` gives b = Σ weight A_i ray, weights > 0.
  ConeLp(Eigen::MatrixXd A, std::vector<ContactCone> cones, const std::vector<WeightedRay>& start);

  /// Maximises Σ cost_i·λ_i (cost 3n) from the current point, to `gap` in the reduced cost times the sum of λ_N.
  Outcome maximise(const Eigen::VectorXd& cost, double gap, int max_pivots);

  /// Whether the current point has b and no weight below zero, which rounding may lose.
  bool is_exact() const;
  /// 3n, the current point.
  Eigen::VectorXd point() const;
  /// 3n, after `unbounded`: a direction in which the objective grows without end.
  const Eigen::VectorXd& ray() const { return ray_; }
  /// Largest reduced cost of a circular cone's ray at the end of the last `maximise`; 0 when there was none above zero.
  double reduced_cost() const { return reduced_cost_; }
  int pivots() const { return pivots_; }

 private:
  struct Column {
    int contact = 0;
    Eigen::Vector3d ray = Eigen::Vector3d::Zero();
  };
  struct Candidate {
    Column column;
    double reduced_cost = 0.0;
  };

  Eigen::Ref<const Eigen::MatrixXd> columns_of(int contact) const { return A_.middleCols(3 * contact, 3); }
  std::vector<WeightedRay> rays_at_hand(const std::vector<WeightedRay>& start) const;
  void start_from(const std::vector<WeightedRay>& start);
  void push_out(const Column& column, double weight);
  void price(const Eigen::VectorXd& cost, Candidate& best);
  /// False when nothing limits the step.
  bool enter(const Column& column);
  int leaving_row(const Eigen::VectorXd& alpha, double wish) const;
  void exchange(int row, const Column& column, double weight);
  void refactor();

  Eigen::MatrixXd A_;
  std::vector<ContactCone> cones_;
  std::vector<Column> basis_;
  Eigen::MatrixXd inverse_;
  Eigen::VectorXd b_, x_, dual_, entering_, ray_;
  double reduced_cost_ = 0.0;
  int pivots_ = 0, degenerate_ = 0, since_refactor_ = 0;
};

}  // namespace stiction
