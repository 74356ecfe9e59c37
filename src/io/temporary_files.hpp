#pragma once

#include <filesystem>

namespace rthiss::io {

/// One registered temporary file; the handle that register_temporary() gives.
struct TemporaryEntry;

/// Notes `path` (absolute) as a file to be removed if the process is made to stop. Thread-safe.
/// Throws IoError where the path is longer than the system allows.
[[nodiscard]] TemporaryEntry* register_temporary(const std::filesystem::path& path);

/// Forgets the file: it has been renamed or removed. Thread-safe.
void unregister_temporary(TemporaryEntry* entry) noexcept;

/// Removes every registered file. Calls nothing but unlink and lock-free atomics, so it may run in a signal handler;
/// meant for the moment before _exit, since writers that go on would fail at their commit.
void remove_temporaries() noexcept;

}  // namespace rthiss::io
