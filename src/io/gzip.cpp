#include "io/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>

#include "io/input_error.hpp"

namespace rthiss::io {

namespace {

/// Frees what zlib holds also when a message is thrown.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipWrapperOnly = 16 + MAX_WBITS;
    if (::inflateInit2(&stream, kGzipWrapperOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

// The last four bytes are the size of the last member modulo 2^32: a good first guess, worth no trust. Deflate cannot
// do better than 1032 to 1.
std::size_t guess_size(std::span<const std::byte> bytes, std::uint64_t memory_limit) {
  constexpr std::uint64_t kMaxRatio = 1032;
  constexpr std::uint64_t kSmallest = 64;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size = size << 8 | std::to_integer<std::uint64_t>(bytes[bytes.size() - 1 - i]);
  return static_cast<std::size_t>(std::min(std::min(size, kMaxRatio * bytes.size()) + kSmallest, memory_limit));
}

}  // namespace

bool looks_like_gzip(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

FileBytes inflate_gzip(std::span<const std::byte> bytes, std::uint64_t memory_limit, std::string_view path) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // zlib counts in 32 bits
  constexpr std::size_t kSmallestFile = 18;
  if (!looks_like_gzip(bytes)) refuse_input(path, 0, "not a .gz file (it does not begin with 1f 8b)");
  if (bytes.size() < kSmallestFile) refuse_input(path, bytes.size(), "the .gz file is cut off");
  Array<std::byte> buffer(guess_size(bytes, memory_limit));
  std::size_t used = 0;
  std::size_t consumed = 0;
  Inflater inflater;
  z_stream& stream = inflater.stream;
  for (;;) {
    if (used == buffer.size()) grow_buffer(buffer, used, memory_limit, path);
    const std::size_t input = std::min(bytes.size() - consumed, kMostAtOnce);
    const std::size_t room = std::min(buffer.size() - used, kMostAtOnce);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + consumed));
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int result = ::inflate(&stream, Z_NO_FLUSH);
    consumed += input - stream.avail_in;
    used += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      if (consumed == bytes.size()) return {std::move(buffer), used};
      if (!looks_like_gzip(bytes.subspan(consumed))) {
        refuse_input(path, consumed,
                     fmt::format("{} bytes that are no gzip data follow the compressed data", bytes.size() - consumed));
      }
      if (::inflateReset(&stream) != Z_OK) throw std::bad_alloc();
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      refuse_input(path, consumed,
                   fmt::format("the .gz file is damaged ({})", stream.msg != nullptr ? stream.msg : "zlib error"));
    } else if (consumed == bytes.size() && stream.avail_out != 0) {
      refuse_input(path, consumed, "the .gz file is cut off");
    }
  }
}

}  // namespace rthiss::io
