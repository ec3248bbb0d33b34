#include "stiction/base/team.hpp"

#include <algorithm>

namespace stiction {

void rethrow_if_all(const std::vector<std::exception_ptr>& thrown) {
  if (!thrown.empty() && std::ranges::all_of(thrown, [](const std::exception_ptr& e) { return e != nullptr; })) {
    std::rethrow_exception(thrown.front());
  }
}

Team::Team(int others) {
  for (int i = 1; i <= others; ++i) threads_.emplace_back([this, i](const std::stop_token& stop) { wait_for_work(stop, i); });
}

void Team::run(int count, const std::function<void(int, int)>& work, const std::function<void()>& poll) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  poll_ = &poll;
  next_ = 0;
  count_ = count;
  caller_ = std::this_thread::get_id();
  clock_ = PollClock();
  failed_ = false;
  error_ = nullptr;
  called_.notify_all();
  take(lock, 0);
  while (!done_.wait_for(lock, PollClock::kPause, [this] { return busy_ == 0; })) {
    lock.unlock();
    ask();
    lock.lock();
  }
  if (error_) std::rethrow_exception(error_);
}

void Team::ask() {
  if (!*poll_ || failed_) return;
  try {
    (*poll_)();
  } catch (...) {
    keep_error();
  }
}

void Team::keep_error() {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::current_exception();
  failed_ = true;
}

void Team::take(std::unique_lock<std::mutex>& lock, int worker) {
  while (next_ < count_) {
    const int i = next_++;
    ++busy_;
    lock.unlock();
    try {
      (*work_)(i, worker);
    } catch (...) {
      keep_error();
    }
    lock.lock();
    --busy_;
  }
}

void Team::wait_for_work(const std::stop_token& stop, int worker) {
  std::unique_lock lock(mutex_);
  while (called_.wait(lock, stop, [this] { return next_ < count_; })) {
    take(lock, worker);
    done_.notify_one();
  }
}

}  // namespace stiction
