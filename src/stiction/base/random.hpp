// Random numbers that are the same on every platform for one seed.
#pragma once

#include <cstdint>
#include <random>

namespace stiction {

/// Uniform in [0, 1), or between two numbers.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : bits_(seed) {}
  double operator()() { return static_cast<double>(bits_() >> 11) * 0x1.0p-53; }
  double operator()(double lower, double upper) { return lower + (upper - lower) * (*this)(); }

 private:
  std::mt19937_64 bits_;
};

}  // namespace stiction
