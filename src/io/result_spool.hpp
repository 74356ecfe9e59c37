#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace rthiss::io {

/// True for a regular file and for one that is not there yet; false for a pipe or a device.
[[nodiscard]] bool is_plain_output(const std::filesystem::path& output);
/// Where the SpoolFile of an output lies: its own folder, symbolic links followed, or the system's folder for temporary
/// files.
[[nodiscard]] std::filesystem::path spool_folder(const std::filesystem::path& output);

/// A nameless temporary file: appended to, then read at random. It has no name in any folder from the start (or loses
/// it at once), so nothing is left behind however the process ends. Failures are IoErrors that name `output`.
class SpoolFile {
 public:
  /// Lies in spool_folder(output).
  explicit SpoolFile(const std::filesystem::path& output);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  /// Returns the offset at which the bytes begin.
  std::uint64_t append(const void* data, std::size_t bytes);
  void read(std::uint64_t offset, void* out, std::size_t bytes) const;

 private:
  [[noreturn]] void fail(const char* action, int error, std::uint64_t offset) const;

  std::filesystem::path output_;
  std::filesystem::path folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace rthiss::io
