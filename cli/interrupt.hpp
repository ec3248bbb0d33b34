// The first Ctrl-C, SIGTERM or SIGHUP (its terminal is closed) ends a run, which writes what it has; the second ends the program at once.
#pragma once

#include <csignal>

namespace stiction::cli {

class Interrupt {
 public:
  Interrupt() {
    signal_ = 0;
    for (const int signal : kSignals) {
      if (handler(signal) != SIG_IGN) std::signal(signal, take);  // ignored: as in the background of a script
    }
  }

  /// The signal that came, or 0.
  static int signal() { return signal_; }
  /// As shells tell it.
  static int exit_code() { return 128 + signal_; }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

  using Handler = void (*)(int);
  static Handler handler(int signal) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    return now.sa_handler;
  }

  /// Leaves whichever comes second to the system.
  static void take(int came) {
    signal_ = came;
    for (const int signal : kSignals) {
      if (handler(signal) == take) std::signal(signal, SIG_DFL);
    }
  }

  static inline volatile std::sig_atomic_t signal_ = 0;
};

}  // namespace stiction::cli
