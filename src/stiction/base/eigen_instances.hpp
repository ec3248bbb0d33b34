// Eigen's dense kernels for double, compiled once in eigen_instances.cpp instead of in every file that multiplies two matrices: a
// fifth of the time of a clean build. Part of the precompiled header; nothing else needs to include it.
#pragma once

#include <Eigen/Dense>

#ifndef STICTION_EIGEN_INSTANCE
#define STICTION_EIGEN_INSTANCE extern template
#endif

namespace Eigen {

STICTION_EIGEN_INSTANCE class LLT<MatrixXd>;
STICTION_EIGEN_INSTANCE class LDLT<MatrixXd>;
STICTION_EIGEN_INSTANCE class PartialPivLU<MatrixXd>;
STICTION_EIGEN_INSTANCE class ColPivHouseholderQR<MatrixXd>;
STICTION_EIGEN_INSTANCE class CompleteOrthogonalDecomposition<MatrixXd>;
STICTION_EIGEN_INSTANCE class SelfAdjointEigenSolver<MatrixXd>;

namespace internal {

using ColumnMapper = blas_data_mapper<double, Index, ColMajor, Unaligned, 1>;
using ColumnLhs = const_blas_data_mapper<double, Index, ColMajor>;
using RowLhs = const_blas_data_mapper<double, Index, RowMajor>;

STICTION_EIGEN_INSTANCE struct gebp_kernel<double, double, Index, ColumnMapper, 4, 4, false, false>;
STICTION_EIGEN_INSTANCE struct general_matrix_matrix_product<Index, double, ColMajor, false, double, ColMajor, false, ColMajor, 1>;
STICTION_EIGEN_INSTANCE struct general_matrix_matrix_product<Index, double, ColMajor, false, double, RowMajor, false, ColMajor, 1>;
STICTION_EIGEN_INSTANCE struct general_matrix_matrix_product<Index, double, RowMajor, false, double, ColMajor, false, ColMajor, 1>;
STICTION_EIGEN_INSTANCE struct general_matrix_matrix_product<Index, double, RowMajor, false, double, RowMajor, false, ColMajor, 1>;
STICTION_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, ColumnLhs, ColMajor, false, double, ColumnLhs, false>;
STICTION_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, ColumnLhs, ColMajor, false, double, RowLhs, false>;
STICTION_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, RowLhs, RowMajor, false, double, ColumnLhs, false>;
STICTION_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, RowLhs, RowMajor, false, double, RowLhs, false>;
STICTION_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, RowLhs, RowMajor, false, double, RowLhs, false, 1>;
STICTION_EIGEN_INSTANCE struct product_triangular_matrix_matrix<double, Index, UnitLower, true, ColMajor, false, ColMajor, false, ColMajor,
                                                                1, 0>;
STICTION_EIGEN_INSTANCE struct product_triangular_matrix_matrix<double, Index, Lower, true, ColMajor, false, ColMajor, false, ColMajor, 1,
                                                                0>;
STICTION_EIGEN_INSTANCE struct product_triangular_matrix_matrix<double, Index, UnitUpper, true, RowMajor, false, ColMajor, false, ColMajor,
                                                                1, 0>;
STICTION_EIGEN_INSTANCE struct product_triangular_matrix_matrix<double, Index, Upper, true, RowMajor, false, ColMajor, false, ColMajor, 1,
                                                                0>;
STICTION_EIGEN_INSTANCE struct triangular_solve_matrix<double, Index, OnTheLeft, UnitLower, false, ColMajor, ColMajor, 1>;
STICTION_EIGEN_INSTANCE struct triangular_solve_matrix<double, Index, OnTheLeft, Lower, false, ColMajor, ColMajor, 1>;
STICTION_EIGEN_INSTANCE struct triangular_solve_matrix<double, Index, OnTheLeft, Upper, false, ColMajor, ColMajor, 1>;
STICTION_EIGEN_INSTANCE struct triangular_solve_matrix<double, Index, OnTheLeft, Upper, false, RowMajor, ColMajor, 1>;
STICTION_EIGEN_INSTANCE struct triangular_solve_matrix<double, Index, OnTheLeft, Lower, false, RowMajor, ColMajor, 1>;

}  // namespace internal
}  // namespace Eigen
