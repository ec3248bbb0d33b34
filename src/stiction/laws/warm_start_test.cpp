// What is carried over from one solve to the next, and that it is what belongs to the contact.
#include "stiction/laws/warm_start.hpp"

#include <gmock/gmock.h>
#include <Eigen/Dense>

#include "stiction/base/allocation_counter.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/laws/test_problems.hpp"

namespace stiction::warm_start_test {
namespace {

using testing::ElementsAre;
using Ids = std::vector<std::uint64_t>;

GrowVector numbers(std::initializer_list<double> x) { return Eigen::Map<const Eigen::VectorXd>(x.begin(), std::ssize(x)); }

std::vector<double> recalled(const NamedImpulses& last, const Ids& ids, Eigen::Index count, int known) {
  GrowVector out;
  EXPECT_EQ(last.recall(ids, count, out), known);
  return {out.begin(), out.end()};
}

TEST(NamedImpulses, FollowTheirNames) {
  NamedImpulses last(1);
  EXPECT_THAT(recalled(last, {4, 9}, 2, 0), ElementsAre(0, 0));
  last.keep(Ids{10, 20, 30}, numbers({1, 2, 3}));
  EXPECT_THAT(recalled(last, {10, 20, 30}, 3, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(recalled(last, {30, 10}, 2, 2), ElementsAre(3, 1));
  EXPECT_THAT(recalled(last, {5, 30, 6, 20}, 4, 2), ElementsAre(0, 3, 0, 2));
  EXPECT_THAT(recalled(last, {1, 2, 3}, 3, 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(recalled(last, {}, 3, 0), ElementsAre(0, 0, 0));  // names of one, none of the other
  const std::array<double, 2> more{5.0, 6.0};
  last.add(40, &more[0]);
  last.add(40, &more[1]);  // is known by now
  last.add(10, &more[1]);
  EXPECT_THAT(recalled(last, {40, 10, 20, 30}, 4, 4), ElementsAre(5, 1, 2, 3));
  last.keep({}, numbers({7, 8}));
  last.add(40, &more[0]);  // beside entries without names
  EXPECT_THAT(recalled(last, {}, 2, 2), ElementsAre(7, 8));
  EXPECT_THAT(recalled(last, {}, 3, 0), ElementsAre(0, 0, 0));
}

TEST(NamedImpulses, AnyNamesAndAnyNumberOfThem) {
  std::uint64_t state = 1;
  const auto next = [&] { return state = state * 6364136223846793005U + 1442695040888963407U; };  // Knuth's MMIX
  for (const std::size_t count : {1U, 2U, 63U, 64U, 65U, 1000U}) {
    for (const bool consecutive : {false, true}) {
      Ids ids(count), shuffled;
      GrowVector values(3 * static_cast<Eigen::Index>(count));
      for (std::size_t i = 0; i < count; ++i) ids[i] = consecutive ? i : next();
      for (Eigen::Index i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
      NamedImpulses last(3);
      last.keep(ids, values);
      shuffled = ids;
      std::ranges::reverse(shuffled);
      GrowVector out;
      ASSERT_EQ(last.recall(shuffled, std::ssize(shuffled), out), static_cast<int>(count));
      for (Eigen::Index i = 0; i < std::ssize(ids); ++i) {
        ASSERT_EQ(out.segment<3>(3 * i), values.segment<3>(3 * (std::ssize(ids) - 1 - i))) << count << " " << i;
      }
    }
  }
}

TEST(NamedImpulses, NoAllocationOnceGrown) {
  if (!allocations_are_counted()) GTEST_SKIP() << "built without the counter";
  NamedImpulses last(3);
  const Ids a{1, 2, 3, 4}, b{4, 2, 7};
  const GrowVector of_a = Eigen::VectorXd::Random(12), of_b = Eigen::VectorXd::Random(9);
  GrowVector out;
  const auto run = [&] {
    last.keep(a, of_a);
    last.recall(b, 3, out);
    last.keep(b, of_b);
    last.recall(a, 4, out);
  };
  run();
  const std::size_t before = allocation_count();
  run();
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace stiction::warm_start_test
