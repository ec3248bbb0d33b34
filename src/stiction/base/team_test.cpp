#include "stiction/base/team.hpp"

#include <chrono>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stiction {
namespace {

TEST(Team, SharesOutEveryPieceOnceCallAfterCall) {
  for (const int others : {0, 1, 3}) {
    Team team(others);
    for (const int count : {0, 1, 50}) {
      std::vector<int> done(static_cast<std::size_t>(count), 0);
      std::atomic<int> most = 0;
      team.run(count, [&](int i, int worker) {
        ++done[static_cast<std::size_t>(i)];
        if (worker > most) most = worker;
      });
      EXPECT_THAT(done, testing::Each(1));
      EXPECT_LE(most, others);
    }
  }
}

TEST(Team, WhatWorkThrowsIsPassedOnAndEndsTheRest) {
  Team team(1);
  const auto endless = [&](int i, int) {
    if (i == 1) throw std::runtime_error("no");
    while (team.goes_on()) std::this_thread::yield();
  };
  EXPECT_THROW(team.run(2, endless), std::runtime_error);
  EXPECT_NO_THROW(team.run(5, [&](int, int) { EXPECT_TRUE(team.goes_on()); }));
}

// The caller's piece is over at once, and another's only when the poll has been heard.
TEST(Team, PollsWhileItWaits) {
  Team team(1);
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::atomic<bool> begun = false, heard = false;
  const auto work = [&](int, int worker) {
    if (worker == 0) {
      while (!begun && std::chrono::steady_clock::now() < late) std::this_thread::yield();
    } else {
      begun = true;
      while (team.goes_on() && std::chrono::steady_clock::now() < late) std::this_thread::yield();
      heard = !team.goes_on();
    }
  };
  EXPECT_THROW(team.run(2, work, [] { throw std::runtime_error("interrupted"); }), std::runtime_error);
  EXPECT_TRUE(heard);
}

}  // namespace
}  // namespace stiction
