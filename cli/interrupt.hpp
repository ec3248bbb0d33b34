// The first Ctrl-C or SIGTERM ends a run, which writes what it has; the second ends the program at once.
#pragma once

#include <csignal>

namespace stiction::cli {

class Interrupt {
 public:
  Interrupt() {
    signal_ = 0;
    for (const int signal : {SIGINT, SIGTERM}) {
      struct sigaction before {};
      sigaction(signal, nullptr, &before);
      if (before.sa_handler == SIG_IGN) continue;  // as in the background of a script
      struct sigaction once {};
      once.sa_handler = [](int s) { signal_ = s; };
      once.sa_flags = static_cast<int>(SA_RESETHAND);
      sigaction(signal, &once, nullptr);
    }
  }

  /// The signal that came, or 0.
  static int signal() { return signal_; }

 private:
  static inline volatile std::sig_atomic_t signal_ = 0;
};

}  // namespace stiction::cli
