#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rthiss::io {

class OutputFile;

/// One stored (not compressed) member of a zip archive.
struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::uint64_t header_offset = 0;
};

/// The records of the format, zip64 fields where a number needs them (4 GiB and more).
[[nodiscard]] std::string zip_local_header(const ZipEntry& entry);
[[nodiscard]] std::string zip_central_header(const ZipEntry& entry);
/// What follows the central directory of `entries` members, which lies at `offset` and has `size` bytes.
[[nodiscard]] std::string zip_end_records(std::uint64_t entries, std::uint64_t offset, std::uint64_t size);

/// Byte of the local header where the CRC-32 stands.
inline constexpr std::uint64_t kZipCrcField = 14;

/// Writes an archive of stored members whose sizes are known beforehand; the CRC-32 is patched into the local header.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& file) : file_(file) {}

  void begin_member(std::string name, std::uint64_t size);
  void write(const void* data, std::size_t bytes);
  /// Writes `block` as often as fits into `bytes`, then its beginning; the checksum is taken once.
  void write_repeated(std::span<const std::byte> block, std::uint64_t bytes);
  /// To be called when exactly `size` bytes are written.
  void end_member();
  /// Writes the directory of all members.
  void finish();

 private:
  OutputFile& file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace rthiss::io
