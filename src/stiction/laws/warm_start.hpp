// Where a solve starts: the impulses of the last one, carried over by the names of contacts and rows.
//
// A contact that was there before has its last impulse, a new one zero; where the problem names nothing, contacts are known by their
// position as long as their number stays. Impulses are kept in the contact frames: these turn with the normals, and friction with them,
// so their components are the better guess than the vector of the world would be. Cost: O(n), hashed; no allocation once grown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/base/grow.hpp"

namespace stiction {

/// The names of one problem's contacts or rows and their last impulses, `width` numbers each.
class NamedImpulses {
 public:
  explicit NamedImpulses(int width) : width_(width) {}

  /// impulses: width per entry; ids: one per entry, or empty.
  void keep(std::span<const std::uint64_t> ids, const GrowVector& impulses);
  /// Number of entries (of `count`) that are known; fills `impulses` (width x count), zero for the others.
  int recall(std::span<const std::uint64_t> ids, Eigen::Index count, GrowVector& impulses) const;
  /// The impulse (`width` numbers) of one more; no effect where its name is known already.
  void add(std::uint64_t id, const double* impulse);
  void clear();
  /// Writes or reads what is known (base/archive.hpp).
  template <class Archive>
  void carry(Archive& archive) {
    archive(ids_, impulses_);
    if constexpr (Archive::kReads) hash();
  }

 private:
  std::size_t slot_of(std::uint64_t id) const;
  void hash();

  int width_;
  std::vector<std::uint64_t> ids_;
  GrowVector impulses_;
  std::vector<int> slots_;  // open addressing: entry + 1, 0 where empty; a power of two, at least twice the entries
};

struct WarmStart {
  NamedImpulses contacts{3}, rows{1};
  GrowVector lambda, beta;  ///< 3n and m, where the next solve starts; both empty: cold

  /// Fills lambda and beta for a problem with these contacts and rows.
  template <class Problem>
  void recall(const Problem& problem) {
    const int known = contacts.recall(problem.ids, problem.contacts(), lambda) + rows.recall(problem.row_ids, problem.bounded_rows(), beta);
    if (known == 0) forget();
  }
  /// The impulses λ (3n) and β (m) that a solve returned.
  template <class Problem>
  void keep(const Problem& problem, const GrowVector& impulses, const GrowVector& bounded_impulses) {
    contacts.keep(problem.ids, impulses);
    rows.keep(problem.row_ids, bounded_impulses);
  }
  /// The next solve starts cold.
  void forget() {
    lambda.resize(0);
    beta.resize(0);
  }
};

}  // namespace stiction
