// Replaces malloc's family at link time by versions that count; see allocation_counter.hpp. For test executables only.
// Sanitizers own malloc: with them nothing is counted.
#include "stiction/base/allocation_counter.hpp"

#ifdef STICTION_SANITIZED

namespace stiction {
std::size_t allocation_count() { return 0; }
bool allocations_are_counted() { return false; }
}  // namespace stiction

#else

#include <cerrno>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {
thread_local std::size_t allocations = 0;
}

extern "C" {
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out != nullptr ? 0 : ENOMEM;
}
}

namespace stiction {
std::size_t allocation_count() { return allocations; }
bool allocations_are_counted() { return true; }
}  // namespace stiction

#endif
