#include "workspace_handle.hpp"

#include "stiction/base/archive.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/laws/solve_memory.hpp"

namespace stiction::python {

namespace {

template <class Archive>
void carry_request(Archive& archive, RequestWorkspace& w) {
  stiction::carry(archive, w.solve);
  archive(w.stage_two.solution.x, w.stage_two.solution.nu);
}

}  // namespace

std::unique_lock<std::mutex> WorkspaceHandle::only_user() const {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) throw InvalidArgument("workspace", "one that no other call is using, so one for each thread", "one in use");
  return lock;
}

WorkspaceHandle::WorkspaceHandle(const WorkspaceHandle& other) {
  const std::unique_lock lock = other.only_user();
  memory_ = other.memory_;
  last_ = other.last_;
}

void WorkspaceHandle::start_cold() { memory_ = {}; }

void WorkspaceHandle::forget() {
  const std::unique_lock lock = only_user();
  start_cold();
  last_.clear();
}

template <class Archive>
void WorkspaceHandle::carry(Archive& archive) {
  const std::unique_lock lock = only_user();
  last_.carry(archive);
  carry_request(archive, memory_);
  bool limited = memory_.limited.has_value();
  archive(limited);
  if (limited) carry_request(archive, memory_.limited ? *memory_.limited : memory_.limited.emplace());
}

std::string WorkspaceHandle::memory() {
  ByteWriter out;
  carry(out);
  return out.written;
}

void WorkspaceHandle::remember(std::string_view bytes) {
  ByteReader in(bytes);
  carry(in);
  if (!in.at_end()) throw InvalidArgument("bytes", "those of a workspace that the same version wrote", "others");
}

}  // namespace stiction::python
