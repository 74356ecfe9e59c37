#include "io/temporary_files.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <rthiss/errors.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

namespace rthiss::io {

namespace {

enum class State : int { kFree, kFilling, kLive };
static_assert(std::atomic<State>::is_always_lock_free);

}  // namespace

// Entries are reused but never freed, so that a signal handler on another thread always reads memory that is there.
struct TemporaryEntry {
  std::atomic<State> state{State::kFilling};
  TemporaryEntry* next = nullptr;
  std::array<char, PATH_MAX> path{};
};

namespace {

constinit std::atomic<TemporaryEntry*> first_entry{nullptr};

TemporaryEntry* claim_entry() {
  for (TemporaryEntry* entry = first_entry.load(); entry != nullptr; entry = entry->next) {
    State expected = State::kFree;
    if (entry->state.compare_exchange_strong(expected, State::kFilling)) return entry;
  }
  auto* entry = new TemporaryEntry;
  entry->next = first_entry.load();
  while (!first_entry.compare_exchange_weak(entry->next, entry)) {
  }
  return entry;
}

}  // namespace

TemporaryEntry* register_temporary(const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (name.size() >= PATH_MAX) throw IoError(fmt::format("'{}': {}", name, std::strerror(ENAMETOOLONG)));
  TemporaryEntry* entry = claim_entry();
  std::memcpy(entry->path.data(), name.c_str(), name.size() + 1);
  entry->state.store(State::kLive);
  return entry;
}

void unregister_temporary(TemporaryEntry* entry) noexcept { entry->state.store(State::kFree); }

void remove_temporaries() noexcept {
  const int saved_errno = errno;
  for (TemporaryEntry* entry = first_entry.load(); entry != nullptr; entry = entry->next) {
    if (entry->state.load() == State::kLive) ::unlink(entry->path.data());
  }
  errno = saved_errno;
}

}  // namespace rthiss::io
