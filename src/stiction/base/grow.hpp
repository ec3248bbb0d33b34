// Vectors and matrices that keep their memory when they shrink: a step with fewer contacts than the last allocates
// nothing, and neither does the next one with more. They are Eigen maps over owned storage, so they go wherever an Eigen
// expression or an Eigen::Ref does.
#pragma once

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "stiction/base/eigen_layout.hpp"

namespace stiction {

/// Column-major matrix of doubles. `resize` leaves the entries unspecified, but those that a vector has.
template <int Cols>
class Grow : public Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Cols>> {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Cols>;
  using Map = Eigen::Map<Matrix>;

 public:
  Grow() : Map(nullptr, 0, Cols == Eigen::Dynamic ? 0 : Cols) {}
  explicit Grow(Eigen::Index rows, Eigen::Index cols = Cols == Eigen::Dynamic ? 0 : Cols) : Grow() { resize(rows, cols); }
  Grow(const Grow& other) : Grow() { copy(other); }
  Grow(Grow&& other) noexcept : Grow() { swap(other); }
  template <class Derived>
  Grow(const Eigen::MatrixBase<Derived>& other) : Grow() {  // NOLINT(google-explicit-constructor): as Eigen's own
    assign(other);
  }
  ~Grow() = default;

  Grow& operator=(const Grow& other) {
    if (this != &other) copy(other);
    return *this;
  }
  Grow& operator=(Grow&& other) noexcept {
    swap(other);
    return *this;
  }
  /// Resizes to the expression, which must not alias *this when the size changes.
  template <class Derived>
  Grow& operator=(const Eigen::MatrixBase<Derived>& other) {
    assign(other);
    return *this;
  }

  void resize(Eigen::Index rows, Eigen::Index cols = Cols == Eigen::Dynamic ? 0 : Cols) {
    const auto entries = static_cast<std::size_t>(rows * cols);
    if (entries > storage_.size()) storage_.resize(entries);  // never shrinks, which would fill it again when it grows
    reseat(rows, cols);
  }
  void setZero(Eigen::Index rows, Eigen::Index cols = Cols == Eigen::Dynamic ? 0 : Cols) {
    resize(rows, cols);
    Map::setZero();
  }
  using Map::setZero;
  void reserve(Eigen::Index entries) {
    if (const auto most = static_cast<std::size_t>(entries); most > storage_.size()) storage_.resize(most);
    reseat(this->rows(), this->cols());
  }

 private:
  void copy(const Grow& other) {
    resize(other.rows(), other.cols());
    std::copy_n(other.data(), other.size(), storage_.data());
  }
  template <class Derived>
  void assign(const Eigen::MatrixBase<Derived>& other) {
    if (other.rows() != this->rows() || other.cols() != this->cols()) resize(other.rows(), other.cols());
    Map::operator=(other);
  }
  void swap(Grow& other) noexcept {
    const Eigen::Index rows = this->rows(), cols = this->cols();
    storage_.swap(other.storage_);
    reseat(other.rows(), other.cols());
    other.reseat(rows, cols);
  }
  void reseat(Eigen::Index rows, Eigen::Index cols) { ::new (static_cast<Map*>(this)) Map(storage_.data(), rows, cols); }

  std::vector<double> storage_;
};

using GrowVector = Grow<1>;
using GrowMatrix = Grow<Eigen::Dynamic>;

/// Largest entry without its sign; zero when there is none.
inline double largest_entry(const Eigen::Ref<const Eigen::VectorXd>& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace stiction
