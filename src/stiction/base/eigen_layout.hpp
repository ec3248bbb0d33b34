// Who includes these headers shares Eigen's types with the library: their alignment, and how their memory is freed, must be those that it
// was compiled with. Instruction sets (-mavx, -march=native) and the address sanitizer would change both; the CMake targets carry the
// definitions that keep them, EIGEN_MAX_ALIGN_BYTES=16 and EIGEN_MALLOC_ALREADY_ALIGNED=1.
#pragma once

#include <cstddef>
#include <type_traits>

#include <Eigen/Core>

static_assert(EIGEN_MAX_ALIGN_BYTES == 16 && EIGEN_MAX_STATIC_ALIGN_BYTES == 16 && EIGEN_MALLOC_ALREADY_ALIGNED == 1,
              "Eigen's types have another layout here than in stiction's library: link the CMake target stiction::stiction, or define "
              "EIGEN_MAX_ALIGN_BYTES=16 and EIGEN_MALLOC_ALREADY_ALIGNED=1 for every file that includes Eigen");
static_assert(std::is_same_v<Eigen::Index, std::ptrdiff_t> && !Eigen::MatrixXd::IsRowMajor,
              "Eigen's types have another layout here than in stiction's library: leave EIGEN_DEFAULT_DENSE_INDEX_TYPE and "
              "EIGEN_DEFAULT_TO_ROW_MAJOR alone");
