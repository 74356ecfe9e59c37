#include "io/result_zip.hpp"

#include <zlib.h>

#include <utility>

#include "io/output_file.hpp"

namespace rthiss::io {

namespace {

constexpr std::uint64_t kMax32 = 0xffffffff;
constexpr std::uint64_t kMax16 = 0xffff;
constexpr std::uint64_t kVersionPlain = 20;
constexpr std::uint64_t kVersionZip64 = 45;
constexpr std::uint64_t kMadeOnUnix = 3 << 8;
constexpr std::uint64_t kRegularFileMode = 0100644;
// 1980-01-01 00:00, the format's earliest time: equal results give equal files.
constexpr std::uint64_t kDosDate = (0 << 9) | (1 << 5) | 1;
constexpr std::uint64_t kZip64ExtraId = 1;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

std::uint64_t capped(std::uint64_t value, std::uint64_t limit) { return value < limit ? value : limit; }

void put_common_fields(std::string& out, const ZipEntry& entry, bool zip64, std::size_t extra_bytes) {
  put(out, zip64 ? kVersionZip64 : kVersionPlain, 2);
  put(out, 0, 2);  // flags
  put(out, 0, 2);  // method: stored
  put(out, 0, 2);  // time
  put(out, kDosDate, 2);
  put(out, entry.crc, 4);
  put(out, capped(entry.size, kMax32), 4);
  put(out, capped(entry.size, kMax32), 4);
  put(out, entry.name.size(), 2);
  put(out, extra_bytes, 2);
}

std::string zip64_extra(const std::string& fields) {
  if (fields.empty()) return {};
  std::string extra;
  put(extra, kZip64ExtraId, 2);
  put(extra, fields.size(), 2);
  return extra + fields;
}

}  // namespace

std::string zip_local_header(const ZipEntry& entry) {
  std::string fields;
  if (entry.size >= kMax32) {
    put(fields, entry.size, 8);
    put(fields, entry.size, 8);
  }
  const std::string extra = zip64_extra(fields);
  std::string out = "PK\x03\x04";
  put_common_fields(out, entry, !extra.empty(), extra.size());
  return out + entry.name + extra;
}

std::string zip_central_header(const ZipEntry& entry) {
  // Only the fields that overflow stand in the extra record, in this order.
  std::string fields;
  if (entry.size >= kMax32) {
    put(fields, entry.size, 8);
    put(fields, entry.size, 8);
  }
  if (entry.header_offset >= kMax32) put(fields, entry.header_offset, 8);
  const std::string extra = zip64_extra(fields);
  const bool zip64 = !extra.empty();
  std::string out = "PK\x01\x02";
  put(out, kMadeOnUnix | (zip64 ? kVersionZip64 : kVersionPlain), 2);
  put_common_fields(out, entry, zip64, extra.size());
  put(out, 0, 2);  // comment
  put(out, 0, 2);  // disk
  put(out, 0, 2);  // internal attributes
  put(out, kRegularFileMode << 16, 4);
  put(out, capped(entry.header_offset, kMax32), 4);
  return out + entry.name + extra;
}

std::string zip_end_records(std::uint64_t entries, std::uint64_t offset, std::uint64_t size) {
  std::string out;
  if (entries >= kMax16 || offset >= kMax32 || size >= kMax32) {
    constexpr std::uint64_t kRecordRest = 44;  // bytes of the zip64 record after its size field
    out += "PK\x06\x06";
    put(out, kRecordRest, 8);
    put(out, kMadeOnUnix | kVersionZip64, 2);
    put(out, kVersionZip64, 2);
    put(out, 0, 4);
    put(out, 0, 4);
    put(out, entries, 8);
    put(out, entries, 8);
    put(out, size, 8);
    put(out, offset, 8);
    out += "PK\x06\x07";
    put(out, 0, 4);
    put(out, offset + size, 8);
    put(out, 1, 4);  // disks
  }
  out += "PK\x05\x06";
  put(out, 0, 2);
  put(out, 0, 2);
  put(out, capped(entries, kMax16), 2);
  put(out, capped(entries, kMax16), 2);
  put(out, capped(size, kMax32), 4);
  put(out, capped(offset, kMax32), 4);
  put(out, 0, 2);
  return out;
}

void ZipWriter::begin_member(std::string name, std::uint64_t size) {
  entries_.push_back({std::move(name), size, 0, file_.position()});
  file_.write(zip_local_header(entries_.back()));
}

void ZipWriter::write(const void* data, std::size_t bytes) {
  // zlib starts the checksum anew at a null pointer, which is what an empty array has.
  if (bytes == 0) return;
  std::uint32_t& crc = entries_.back().crc;
  crc = static_cast<std::uint32_t>(::crc32_z(crc, static_cast<const Bytef*>(data), bytes));
  file_.write(data, bytes);
}

void ZipWriter::write_repeated(std::span<const std::byte> block, std::uint64_t bytes) {
  std::uint32_t& crc = entries_.back().crc;
  const auto* data = reinterpret_cast<const Bytef*>(block.data());
  const uLong block_crc = ::crc32_z(0, data, block.size());
  const uLong append_block = ::crc32_combine_gen(static_cast<z_off_t>(block.size()));
  for (; bytes >= block.size(); bytes -= block.size()) {
    crc = static_cast<std::uint32_t>(::crc32_combine_op(crc, block_crc, append_block));
    file_.write(block.data(), block.size());
  }
  write(block.data(), bytes);
}

void ZipWriter::end_member() {
  const std::uint64_t end = file_.position();
  std::string crc;
  put(crc, entries_.back().crc, 4);
  file_.seek(entries_.back().header_offset + kZipCrcField);
  file_.write(crc);
  file_.seek(end);
}

void ZipWriter::finish() {
  const std::uint64_t offset = file_.position();
  for (const ZipEntry& entry : entries_) file_.write(zip_central_header(entry));
  file_.write(zip_end_records(entries_.size(), offset, file_.position() - offset));
}

}  // namespace rthiss::io
