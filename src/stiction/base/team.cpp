#include "stiction/base/team.hpp"

#include <unistd.h>

#include <algorithm>

namespace stiction {

void rethrow_if_all(const std::vector<std::exception_ptr>& thrown) {
  if (!thrown.empty() && std::ranges::all_of(thrown, [](const std::exception_ptr& e) { return e != nullptr; })) {
    std::rethrow_exception(thrown.front());
  }
}

Team::Team(int others) : others_(others) { start(); }

Team::~Team() { leave_to_parent(); }

void Team::start() {
  process_ = getpid();
  room_ = std::make_unique<Room>();
  for (int i = 1; i <= others_; ++i) room_->threads.emplace_back([this, i](const std::stop_token& stop) { wait_for_work(stop, i); });
}

bool Team::leave_to_parent() {
  if (getpid() == process_) return false;
  static_cast<void>(room_.release());
  return true;
}

void Team::run(int count, const std::function<void(int, int)>& work, const std::function<void()>& poll) {
  if (leave_to_parent()) {
    busy_ = 0;
    start();
  }
  std::unique_lock lock(room_->mutex);
  work_ = &work;
  poll_ = &poll;
  next_ = 0;
  count_ = count;
  caller_ = std::this_thread::get_id();
  clock_ = PollClock();
  failed_ = false;
  error_ = nullptr;
  room_->called.notify_all();
  take(lock, 0);
  while (!room_->done.wait_for(lock, PollClock::kPause, [this] { return busy_ == 0; })) {
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
  const std::lock_guard lock(room_->mutex);
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
  std::unique_lock lock(room_->mutex);
  while (room_->called.wait(lock, stop, [this] { return next_ < count_; })) {
    take(lock, worker);
    room_->done.notify_one();
  }
}

}  // namespace stiction
