// Threads that wait for work between calls; the caller works too.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "stiction/base/poll_clock.hpp"

namespace stiction {

class Team {
 public:
  /// The caller, and this many others.
  explicit Team(int others);
  /// In a child process, which `fork` gives the object and not its threads, `run` starts others, and this joins none.
  ~Team();

  /// work(i, worker) for i in [0, count), shared out one by one, whatever came of those before; worker is 0 for the caller, else in
  /// [1, others]. `poll`: called by the caller every 50 ms or so, between pieces of its own work (`goes_on`) and while it waits for the
  /// others. Rethrows the first that work or the poll threw, when all have come to rest.
  void run(int count, const std::function<void(int, int)>& work, const std::function<void()>& poll = {});

  /// Asked by work every few microseconds or milliseconds: false once something was thrown, and work is to end.
  bool goes_on() {
    if (std::this_thread::get_id() == caller_ && clock_.due()) ask();
    return !failed_;
  }

 private:
  /// What the threads wait in. After a fork a child can neither lock nor destroy it: threads that it has not may hold it or wait there.
  struct Room {
    std::mutex mutex;
    std::condition_variable_any called, done;
    std::vector<std::jthread> threads;  // last: they end first
  };

  void start();
  /// In a child process: true, and the room is left as it is.
  bool leave_to_parent();
  void ask();
  void keep_error();
  void take(std::unique_lock<std::mutex>& lock, int worker);
  void wait_for_work(const std::stop_token& stop, int worker);

  int others_;
  pid_t process_ = 0;
  const std::function<void(int, int)>* work_ = nullptr;
  const std::function<void()>* poll_ = nullptr;
  int next_ = 0, count_ = 0, busy_ = 0;
  std::thread::id caller_;
  PollClock clock_;  ///< of the caller
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;
  std::unique_ptr<Room> room_;  // last: its threads end before what they use
};

/// A team that is begun when it is first asked for. A copy of what keeps one begins its own.
class KeptTeam {
 public:
  KeptTeam() = default;
  KeptTeam(const KeptTeam& /*other*/) {}
  KeptTeam& operator=(const KeptTeam& /*other*/) { return *this; }
  KeptTeam(KeptTeam&&) noexcept = default;
  KeptTeam& operator=(KeptTeam&&) noexcept = default;
  ~KeptTeam() = default;
  /// The caller and this many others.
  Team& of(int others) {
    if (team_ == nullptr || others != others_) team_ = std::make_unique<Team>(others_ = others);
    return *team_;
  }

 private:
  std::unique_ptr<Team> team_;
  int others_ = 0;
};

/// Of what each of several runs threw, the first where all of them did: then it was no matter of one of them.
void rethrow_if_all(const std::vector<std::exception_ptr>& thrown);

}  // namespace stiction
