// Counts heap allocations of the calling thread, so a test can prove that a loop makes none. Link the object library
// `stiction_count_allocations` (it replaces malloc and its family) into the test executable; under sanitizers, which own malloc, the count
// stays 0 and `allocations_are_counted` is false.
#pragma once

#include <cstddef>

namespace stiction {

/// Allocations made by this thread since it started.
std::size_t allocation_count();
/// True when the counting malloc is linked in; assert it first, or the test cannot fail.
bool allocations_are_counted();

}  // namespace stiction
