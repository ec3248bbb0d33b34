#include "stiction/programs/qp/row_space.hpp"

#include <cmath>

namespace stiction {

namespace {

constexpr double kInSpan = 1e-11;

}  // namespace

bool find_row_space(RowsView W, Eigen::Index limit, RowBasis& basis, GrowMatrix& coordinates, GrowVector& scratch) {
  const Eigen::Index n = W.rows(), w = W.cols();
  basis.reset(static_cast<int>(w));
  coordinates.resize(n, limit + 1);
  scratch.resize(n + w);
  auto remainders = scratch.head(n);
  double* projected = scratch.data() + n;
  for (Eigen::Index j = 0; j < n; ++j) remainders[j] = W.row(j).squaredNorm();
  const double largest = n == 0 ? 0.0 : std::sqrt(remainders.maxCoeff());
  for (int rank = 0; rank <= limit; ++rank) {
    Eigen::Index pivot = 0;
    if (n > 0) remainders.maxCoeff(&pivot);
    // The remainders hold rounding: the distance of the row with the largest decides.
    if (n == 0 || rank == w || !(basis.project(W.row_data(pivot), projected) > kInSpan * largest)) {
      coordinates.resize(n, rank);  // columns are contiguous: dropping the last ones keeps the others
      return true;
    }
    basis.append(projected);
    coordinates.col(rank).noalias() = W.map() * basis.span().col(rank);
    remainders -= coordinates.col(rank).cwiseAbs2();
  }
  return false;
}

}  // namespace stiction
