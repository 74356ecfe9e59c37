#pragma once

#include <rthiss/array.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace rthiss::io {

/// The bytes of a whole file: mapped read-only for a regular file, read into memory for a pipe or standard input ("-").
/// A mapped file must not be shortened by others while this lives; the system then ends the process (SIGBUS).
class FileBytes {
 public:
  /// Throws IoError: missing, a directory, a device, unreadable, a failed read; InvalidArgument: empty.
  /// OutOfMemory where a pipe brings more than `memory_limit` bytes.
  [[nodiscard]] static FileBytes open(const std::filesystem::path& path, std::uint64_t memory_limit);

  /// The first `size` bytes of `buffer`, kept in memory.
  FileBytes(Array<std::byte> buffer, std::size_t size) noexcept : buffer_(std::move(buffer)), size_(size) {}
  ~FileBytes();
  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {mapping_ != nullptr ? mapping_ : buffer_.data(), size_};
  }
  [[nodiscard]] bool mapped() const noexcept { return mapping_ != nullptr; }
  /// Bytes of memory that are held; 0 when mapped.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return buffer_.size(); }

 private:
  FileBytes(const std::byte* mapping, std::size_t size) noexcept : mapping_(mapping), size_(size) {}

  const std::byte* mapping_ = nullptr;
  Array<std::byte> buffer_;
  std::size_t size_ = 0;
};

/// Doubles the room of `buffer` (first `used` bytes are kept), within `memory_limit` bytes; throws OutOfMemory beyond.
void grow_buffer(Array<std::byte>& buffer, std::size_t used, std::uint64_t memory_limit, std::string_view path);

}  // namespace rthiss::io
