// When a loop of steps shall ask whether someone wants it to end.
#pragma once

#include <algorithm>
#include <chrono>

namespace stiction {

class PollClock {
 public:
  /// Called once a step; true about every 50 ms. Steps of microseconds do not read the clock each time.
  bool due() {
    if (++passed_ < stride_) return false;
    passed_ = 0;
    const Clock::time_point now = Clock::now();
    stride_ = now - looked_ < kShort ? std::min(2 * stride_, kMostSteps) : 1;
    looked_ = now;
    if (now - polled_ < kPause) return false;
    polled_ = now;
    return true;
  }

  static constexpr std::chrono::milliseconds kPause{50};  // no one waits for it; asking takes microseconds

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kShort{1};  // between two looks: 16 steps that take as long are over within the pause
  static constexpr int kMostSteps = 16;                  // between two looks: of a step of 1 µs, reading the clock is 0.1 % then

  Clock::time_point polled_ = Clock::now(), looked_ = polled_;
  int passed_ = 0, stride_ = 1;
};

}  // namespace stiction
