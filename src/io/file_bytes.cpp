#include "io/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace rthiss::io {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view action, int error) {
  throw IoError(fmt::format("cannot {} '{}': {}", action, path.native(), std::generic_category().message(error)));
}

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : owned_(path != "-"), value_(owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO) {
    if (value_ < 0) fail(path, "open", errno);
  }
  ~Descriptor() {
    if (owned_) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  bool owned_;
  int value_;
};

FileBytes read_all(int descriptor, const std::filesystem::path& path, std::uint64_t memory_limit) {
  Array<std::byte> buffer;
  std::size_t used = 0;
  for (;;) {
    if (used == buffer.size()) grow_buffer(buffer, used, memory_limit, path.native());
    const ssize_t got = ::read(descriptor, buffer.data() + used, buffer.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, fmt::format("read at byte {} of", used), errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  return {std::move(buffer), used};
}

}  // namespace

void grow_buffer(Array<std::byte>& buffer, std::size_t used, std::uint64_t memory_limit, std::string_view path) {
  constexpr std::size_t kFirst = std::size_t{1} << 16;
  const std::uint64_t wanted = std::min<std::uint64_t>(std::max(kFirst, 2 * buffer.size()), memory_limit);
  if (wanted <= used) {
    throw OutOfMemory(
        fmt::format("'{}' needs more than the {} bytes of memory that are allowed for reading it; raise "
                    "the memory limit, or convert it to an uncompressed .npy file, which is mapped",
                    path, memory_limit));
  }
  Array<std::byte> larger(wanted);
  if (used != 0) std::memcpy(larger.data(), buffer.data(), used);
  buffer = std::move(larger);
}

FileBytes FileBytes::open(const std::filesystem::path& path, std::uint64_t memory_limit) {
  const Descriptor descriptor(path);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail(path, "open", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "read", EISDIR);
  if (path != "-" && !S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    throw IoError(fmt::format("cannot read '{}': neither a file nor a pipe", path.native()));
  }
  // Files that the kernel makes up (/proc) say size 0 and hold bytes.
  if (path == "-" || !S_ISREG(status.st_mode) || status.st_size == 0) {
    FileBytes content = read_all(descriptor.get(), path, memory_limit);
    if (content.bytes().empty()) throw InvalidArgument(fmt::format("'{}' is empty", path.native()));
    return content;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (mapping == MAP_FAILED) fail(path, "map", errno);
  return {static_cast<const std::byte*>(mapping), size};
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      buffer_(std::move(other.buffer_)),
      size_(std::exchange(other.size_, 0)) {}

FileBytes::~FileBytes() {
  if (mapping_ != nullptr) ::munmap(const_cast<std::byte*>(mapping_), size_);
}

}  // namespace rthiss::io
