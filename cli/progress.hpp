// A progress bar on standard error, drawn only when that is a terminal.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/command.hpp"

namespace stiction::cli {

class ProgressBar {
 public:
  ProgressBar(std::string label, bool wanted) : label_(std::move(label)), shown_(wanted && isatty(STDERR_FILENO) != 0) {}

  /// share in [0, 1].
  void update(double share) {
    if (!shown_) return;
    constexpr int kWidth = 40;
    const int full = static_cast<int>(share * kWidth);
    tell(fmt::format("\r{:<28} [{:#<{}}{:{}}] {:3.0f} %", label_, "", full, "", kWidth - full, 100.0 * share));
    std::fflush(stderr);
  }
  void clear() {
    if (shown_) tell(fmt::format("\r{:80}\r", ""));
  }

 private:
  std::string label_;
  bool shown_;
};

}  // namespace stiction::cli
