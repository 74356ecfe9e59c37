#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <rthiss/errors.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace rthiss::io {

namespace {

std::atomic<unsigned> temporary_counter{0};

constexpr unsigned kPermissionBits = 07777;
constexpr unsigned kNewFile = kPermissionBits + 1;  // no file to take the mode from

// Follows links by hand where the last component does not exist yet, since canonical() needs the whole path.
std::filesystem::path resolve(const std::filesystem::path& path) {
  std::filesystem::path current = std::filesystem::absolute(path);
  for (int links = 0; links < 40 && std::filesystem::is_symlink(std::filesystem::symlink_status(current)); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(current);
    // What is no path on disk ("pipe:[123]" behind /dev/stdout) is opened by the link's own name.
    if (!next.is_absolute() && !std::filesystem::exists(current.parent_path() / next) &&
        std::filesystem::exists(current)) {
      return current;
    }
    current = next.is_absolute() ? next : current.parent_path() / next;
  }
  return current;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path) : path_(path) {
  if (path.empty()) throw IoError("cannot write a file with an empty name");
  try {
    target_ = resolve(path);
  } catch (const std::filesystem::filesystem_error& error) {
    fail("open", error.code().value(), 0);
  }
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail("open", errno, 0);
  if (exists && S_ISDIR(status.st_mode)) fail("open", EISDIR, 0);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail("open", errno, 0);
  } else {
    // Renaming over it would succeed; a file marked read-only is meant to stay.
    if (exists && ::access(target_.c_str(), W_OK) != 0) fail("replace", errno, 0);
    open_temporary(exists ? status.st_mode & kPermissionBits : kNewFile);
  }
  try {
    buffer_ = Array<std::byte>(kBufferBytes);
  } catch (...) {
    discard();
    throw;
  }
}

void OutputFile::open_temporary(unsigned existing_mode) {
  const auto process = static_cast<long>(::getpid());
  do {
    temporary_ = target_.parent_path() / fmt::format(".rthiss-{}-{}.tmp", process, temporary_counter.fetch_add(1));
    entry_ = register_temporary(temporary_);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      const int error = errno;
      unregister_temporary(entry_);
      entry_ = nullptr;
      if (error != EEXIST) fail("create", error, 0);
    }
  } while (descriptor_ < 0);
  // Best effort: a file system without modes still holds the result.
  if (existing_mode != kNewFile) static_cast<void>(::fchmod(descriptor_, existing_mode));
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (entry_ != nullptr) {
    ::unlink(temporary_.c_str());
    unregister_temporary(entry_);
    entry_ = nullptr;
  }
}

void OutputFile::write(const void* data, std::size_t bytes) {
  if (bytes > buffer_.size() - buffered_) flush();
  if (bytes >= buffer_.size()) {
    write_fully(flushed_, static_cast<const std::byte*>(data), bytes);
    flushed_ += bytes;
    return;
  }
  if (bytes != 0) std::memcpy(buffer_.data() + buffered_, data, bytes);
  buffered_ += bytes;
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (temporary_.empty()) fail("write out of order to", ESPIPE, offset);
  write_fully(offset, static_cast<const std::byte*>(data), bytes);
}

void OutputFile::seek(std::uint64_t offset) {
  if (temporary_.empty()) fail("seek in", ESPIPE, offset);
  flush();
  flushed_ = offset;
}

void OutputFile::reserve(std::uint64_t bytes) {
  if (temporary_.empty() || bytes == 0) return;
  int result = 0;
  do {
    result = ::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result != 0 && (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)) {
    fail(fmt::format("reserve {} bytes for", bytes), errno, 0);
  }
}

void OutputFile::flush() {
  write_fully(flushed_, buffer_.data(), buffered_);
  flushed_ += buffered_;
  buffered_ = 0;
}

void OutputFile::write_fully(std::uint64_t offset, const std::byte* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = temporary_.empty() ? ::write(descriptor_, data, bytes)
                                               : ::pwrite(descriptor_, data, bytes, static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write", errno, offset);
    }
    data += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
}

void OutputFile::commit() {
  flush();
  if (!temporary_.empty()) {
    // Gives back what reserve() took beyond the end.
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || ::ftruncate(descriptor_, status.st_size) != 0) {
      fail("finish", errno, position());
    }
  }
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && errno != EINTR) fail("close", errno, position());
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename the finished file to", errno, position());
  unregister_temporary(entry_);
  entry_ = nullptr;
}

void OutputFile::fail(std::string_view action, int error, std::uint64_t offset) const {
  std::string message = fmt::format("cannot {} '{}'", action, path_.native());
  if (offset != 0) message += fmt::format(" at byte {}", offset);
  message += fmt::format(": {}", std::generic_category().message(error));
  struct statvfs space {};
  if (error == ENOSPC && !temporary_.empty() && ::statvfs(target_.parent_path().c_str(), &space) == 0) {
    message += fmt::format(" (the folder '{}' has {} bytes free)", target_.parent_path().native(),
                           static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize);
  }
  throw IoError(message);
}

}  // namespace rthiss::io
