#pragma once

#include <rthiss/array.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "io/temporary_files.hpp"

namespace rthiss::io {

/// A file that appears under its name only when it is complete. Bytes go to a hidden temporary in the same folder
/// (".rthiss-PID-N.tmp"), which commit() renames and the destructor removes. A symbolic link is followed; the mode of a
/// file that is replaced is kept. A path that names a pipe or a device is written directly, in order (no write_at, no
/// seek). Nothing is flushed to the disk itself (fsync): the promise covers the end of the process, not of the power.
///
/// Every failure is an IoError that holds the path, the byte offset and the system's reason (with the free space of the
/// folder when the disk is full).
class OutputFile {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  /// Opens the temporary. Throws IoError: no such folder, a directory, no permission, name too long.
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends at position(), through a buffer of kBufferBytes; larger pieces are not copied. One thread at a time.
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Writes at `offset` at once; position() stays. Any number of threads, on ranges that do not overlap, also beside
  /// write() elsewhere in the file. Gaps read as zeros.
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);

  /// Moves position(), to patch a header for example; the file is not shortened.
  void seek(std::uint64_t offset);
  [[nodiscard]] std::uint64_t position() const noexcept { return flushed_ + buffered_; }

  /// Takes `bytes` of disk space now, so that a full disk is an error before the work and not after it. The size of
  /// the file stays what is written; without effect where the file system cannot do it.
  void reserve(std::uint64_t bytes);

  /// Flushes, closes and gives the file its name. To be called once; nothing may be written after it.
  void commit();

  /// The final path, as it was given.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void flush();
  void write_fully(std::uint64_t offset, const std::byte* data, std::size_t bytes);
  void open_temporary(unsigned existing_mode);
  void discard() noexcept;
  [[noreturn]] void fail(std::string_view action, int error, std::uint64_t offset) const;

  std::filesystem::path path_;
  std::filesystem::path target_;     ///< absolute, symbolic links resolved
  std::filesystem::path temporary_;  ///< empty when the target is written directly
  TemporaryEntry* entry_ = nullptr;
  int descriptor_ = -1;
  Array<std::byte> buffer_;
  std::size_t buffered_ = 0;
  std::uint64_t flushed_ = 0;
};

}  // namespace rthiss::io
