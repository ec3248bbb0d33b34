#include "stiction/laws/warm_start.hpp"

#include <algorithm>
#include <bit>

namespace stiction {

namespace {

// Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): names may be consecutive numbers.
std::size_t spread(std::uint64_t id, std::size_t slots) {
  return static_cast<std::size_t>((id * 0x9E3779B97F4A7C15U) >> 32U) & (slots - 1);
}

}  // namespace

void NamedImpulses::clear() {
  ids_.clear();
  impulses_.resize(0);
  slots_.clear();
}

std::size_t NamedImpulses::slot_of(std::uint64_t id) const {
  std::size_t slot = spread(id, slots_.size());
  while (slots_[slot] != 0 && ids_[static_cast<std::size_t>(slots_[slot]) - 1] != id) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

void NamedImpulses::hash() {
  slots_.assign(std::bit_ceil(2 * ids_.size() + 1), 0);
  for (std::size_t k = 0; k < ids_.size(); ++k) {
    int& slot = slots_[slot_of(ids_[k])];
    if (slot == 0) slot = static_cast<int>(k) + 1;
  }
}

void NamedImpulses::keep(std::span<const std::uint64_t> ids, const GrowVector& impulses) {
  if (!std::ranges::equal(ids, ids_) || slots_.empty()) {
    ids_.assign(ids.begin(), ids.end());
    hash();
  }
  impulses_ = impulses;
}

void NamedImpulses::add(std::uint64_t id, const double* impulse) {
  const Eigen::Index known = impulses_.size() / width_;
  if (static_cast<Eigen::Index>(ids_.size()) != known || (!slots_.empty() && slots_[slot_of(id)] != 0)) return;
  ids_.push_back(id);
  impulses_.resize(width_ * (known + 1));
  std::copy_n(impulse, width_, impulses_.data() + width_ * known);
  hash();
}

int NamedImpulses::recall(std::span<const std::uint64_t> ids, Eigen::Index count, GrowVector& impulses) const {
  const Eigen::Index known = impulses_.size() / width_;
  if (std::ranges::equal(ids, ids_) && known == count) {
    impulses = impulses_;
    return static_cast<int>(count);
  }
  impulses.setZero(width_ * count);
  if (ids_.empty() || static_cast<Eigen::Index>(ids_.size()) != known) return 0;
  int found = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const int entry = slots_[slot_of(ids[i])];
    if (entry == 0) continue;
    impulses.segment(width_ * static_cast<Eigen::Index>(i), width_) = impulses_.segment(width_ * Eigen::Index{entry - 1}, width_);
    ++found;
  }
  return found;
}

}  // namespace stiction
