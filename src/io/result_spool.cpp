#include "io/result_spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <rthiss/errors.hpp>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace rthiss::io {

bool is_plain_output(const std::filesystem::path& output) {
  std::error_code ignored;
  return !std::filesystem::exists(output, ignored) || std::filesystem::is_regular_file(output, ignored);
}

std::filesystem::path spool_folder(const std::filesystem::path& output) {
  if (!is_plain_output(output)) return std::filesystem::temp_directory_path();
  std::error_code failure;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(output, failure);
  return (failure ? std::filesystem::absolute(output) : resolved).parent_path();
}

SpoolFile::SpoolFile(const std::filesystem::path& output) : output_(output), folder_(spool_folder(output)) {
  descriptor_ = ::open(folder_.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  // Not every file system makes files without a name.
  std::string name = (folder_ / ".rthiss-spool-XXXXXX").native();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail("create", errno, 0);
  ::unlink(name.c_str());
}

SpoolFile::~SpoolFile() { ::close(descriptor_); }

std::uint64_t SpoolFile::append(const void* data, std::size_t bytes) {
  const std::uint64_t start = size_;
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, next, bytes, static_cast<off_t>(size_));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write", errno, size_);
    }
    next += written;
    bytes -= static_cast<std::size_t>(written);
    size_ += static_cast<std::uint64_t>(written);
  }
  return start;
}

void SpoolFile::read(std::uint64_t offset, void* out, std::size_t bytes) const {
  char* next = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, next, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("read", got < 0 ? errno : EIO, offset);
    next += got;
    bytes -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
}

void SpoolFile::fail(const char* action, int error, std::uint64_t offset) const {
  throw IoError(fmt::format("cannot {} the temporary rows of '{}' in the folder '{}' at byte {}: {}", action,
                            output_.native(), folder_.native(), offset, std::generic_category().message(error)));
}

}  // namespace rthiss::io
