#include "stiction/programs/qp/row_space.hpp"

#include <cmath>

namespace stiction {

namespace {

constexpr double kInSpan = 1e-11;

/// v <- v - V Vᵀv, twice for orthogonality to rounding; returns |v|.
template <class Span, class Vector>
double orthogonalise(const Span& V, Vector&& v) {
  for (int pass = 0; pass < 2; ++pass) {
    for (Eigen::Index k = 0; k < V.cols(); ++k) v -= V.col(k).dot(v) * V.col(k);
  }
  return v.norm();
}

}  // namespace

bool find_row_space(RowsView W, Eigen::Index limit, GrowMatrix& basis, GrowMatrix& coordinates, GrowVector& remainders) {
  const Eigen::Index n = W.rows();
  basis.resize(W.cols(), limit + 1);
  coordinates.resize(n, limit + 1);
  remainders.resize(n);
  for (Eigen::Index j = 0; j < n; ++j) remainders[j] = W.row(j).squaredNorm();
  const double largest = n == 0 ? 0.0 : std::sqrt(remainders.maxCoeff());
  for (Eigen::Index rank = 0; rank <= limit; ++rank) {
    Eigen::Index pivot = 0;
    auto v = basis.col(rank);
    double length = 0.0;
    if (n > 0) {
      remainders.maxCoeff(&pivot);
      v = W.row(pivot);
      length = orthogonalise(basis.leftCols(rank), v);
    }
    if (!(length > kInSpan * largest)) {  // the remainders hold rounding: the one just computed decides
      basis.resize(W.cols(), rank);       // columns are contiguous: dropping the last ones keeps the others
      coordinates.resize(n, rank);
      return true;
    }
    v *= 1.0 / length;
    coordinates.col(rank).noalias() = W.map() * v;
    remainders -= coordinates.col(rank).cwiseAbs2();
  }
  return false;
}

}  // namespace stiction
