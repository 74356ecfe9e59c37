#include "io/result_zip_reader.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "io/input_error.hpp"

namespace rthiss::io {

namespace {

constexpr std::uint64_t kMax16 = 0xffff;
constexpr std::uint64_t kMax32 = 0xffffffff;
constexpr std::uint64_t kLocalSignature = 0x04034b50;
constexpr std::uint64_t kCentralSignature = 0x02014b50;
constexpr std::uint64_t kEndSignature = 0x06054b50;
constexpr std::uint64_t kEnd64Signature = 0x06064b50;
constexpr std::uint64_t kLocator64Signature = 0x07064b50;
constexpr std::uint64_t kLocalBytes = 30;
constexpr std::uint64_t kCentralBytes = 46;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kEnd64Bytes = 56;
constexpr std::uint64_t kLocator64Bytes = 20;

/// Little-endian numbers of the archive; a read beyond its end is an error.
class Archive {
 public:
  Archive(std::span<const std::byte> bytes, std::string_view path) : bytes_(bytes), path_(path) {}

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> part(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > size() || bytes > size() - offset) {
      fail(std::min(offset, size()), fmt::format("{} bytes should follow here, the file has {} in all", bytes, size()));
    }
    return bytes_.subspan(offset, bytes);
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t offset, int bytes) const {
    const auto field = part(offset, static_cast<std::uint64_t>(bytes));
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(field[i]) << (8 * i);
    return value;
  }
  void expect(std::uint64_t offset, std::uint64_t signature, std::string_view record) const {
    if (number(offset, 4) != signature) fail(offset, fmt::format("no {} of the zip archive here", record));
  }
  [[noreturn]] void fail(std::uint64_t offset, std::string_view reason) const { refuse_input(path_, offset, reason); }

 private:
  std::span<const std::byte> bytes_;
  std::string_view path_;
};

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
};

Directory find_directory(const Archive& archive) {
  if (archive.size() < kEndBytes) archive.fail(archive.size(), "the zip archive ends before its directory");
  // A comment of at most 65,535 bytes may follow the record.
  const std::uint64_t last = archive.size() - kEndBytes;
  const std::uint64_t lowest = last > kMax16 ? last - kMax16 : 0;
  std::uint64_t end = last;
  while (archive.number(end, 4) != kEndSignature) {
    if (end == lowest) archive.fail(archive.size(), "the zip archive has no directory at its end; is it complete?");
    --end;
  }
  Directory directory{archive.number(end + 10, 2), archive.number(end + 16, 4)};
  const bool zip64 = directory.entries == kMax16 || directory.offset == kMax32 || archive.number(end + 12, 4) == kMax32;
  if (zip64) {
    if (end < kLocator64Bytes) archive.fail(end, "the zip64 records are missing");
    archive.expect(end - kLocator64Bytes, kLocator64Signature, "zip64 locator");
    const std::uint64_t record = archive.number(end - kLocator64Bytes + 8, 8);
    static_cast<void>(archive.part(record, kEnd64Bytes));
    archive.expect(record, kEnd64Signature, "zip64 end record");
    directory = {archive.number(record + 32, 8), archive.number(record + 48, 8)};
  }
  if (directory.entries > archive.size() / kCentralBytes) archive.fail(end, "the zip archive claims too many members");
  return directory;
}

/// Replaces the fields that overflow by those of the zip64 extra record, which holds them in this order.
void apply_zip64(const Archive& archive, std::uint64_t extra, std::uint64_t extra_bytes,
                 std::initializer_list<std::uint64_t*> fields) {
  const std::uint64_t end = extra + extra_bytes;
  for (std::uint64_t at = extra; at + 4 <= end;) {
    const std::uint64_t id = archive.number(at, 2), bytes = archive.number(at + 2, 2);
    if (id == 1) {
      std::uint64_t next = at + 4;
      for (std::uint64_t* field : fields) {
        if (*field != kMax32) continue;
        if (next + 8 > std::min(end, at + 4 + bytes)) archive.fail(at, "the zip64 record is too short");
        *field = archive.number(next, 8);
        next += 8;
      }
      return;
    }
    at += 4 + bytes;
  }
}

}  // namespace

std::vector<ZipMember> read_zip(std::span<const std::byte> bytes, std::string_view path) {
  const Archive archive(bytes, path);
  const Directory directory = find_directory(archive);
  std::vector<ZipMember> members;
  std::uint64_t at = directory.offset;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    static_cast<void>(archive.part(at, kCentralBytes));
    archive.expect(at, kCentralSignature, "directory entry");
    const std::uint64_t flags = archive.number(at + 8, 2), method = archive.number(at + 10, 2);
    const std::uint64_t crc = archive.number(at + 16, 4);
    std::uint64_t stored = archive.number(at + 20, 4), size = archive.number(at + 24, 4);
    const std::uint64_t name_bytes = archive.number(at + 28, 2), extra_bytes = archive.number(at + 30, 2);
    std::uint64_t header = archive.number(at + 42, 4);
    const auto name = archive.part(at + kCentralBytes, name_bytes);
    static_cast<void>(archive.part(at + kCentralBytes + name_bytes, extra_bytes));
    apply_zip64(archive, at + kCentralBytes + name_bytes, extra_bytes, {&size, &stored, &header});

    ZipMember member{std::string(reinterpret_cast<const char*>(name.data()), name.size()), {}, 0};
    if (method != 0 || (flags & 1) != 0) {
      archive.fail(at, fmt::format("member '{}' is compressed or encrypted; save it with scipy.sparse.save_npz(..., "
                                   "compressed=False)",
                                   member.name));
    }
    if (stored != size) archive.fail(at, fmt::format("member '{}' has two different sizes", member.name));
    static_cast<void>(archive.part(header, kLocalBytes));
    archive.expect(header, kLocalSignature, "member");
    member.data_offset = header + kLocalBytes + archive.number(header + 26, 2) + archive.number(header + 28, 2);
    member.data = archive.part(member.data_offset, size);
    if (::crc32_z(0, reinterpret_cast<const Bytef*>(member.data.data()), member.data.size()) != crc) {
      archive.fail(member.data_offset, fmt::format("member '{}' is damaged (CRC-32)", member.name));
    }
    members.push_back(std::move(member));
    at += kCentralBytes + name_bytes + extra_bytes + archive.number(at + 32, 2);
  }
  return members;
}

}  // namespace rthiss::io
