#pragma once

#include <stdexcept>
#include <string>

namespace rthiss {

/// Base of everything that the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's data or options are wrong; the message names the place (row, column, option).
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// Right, but not available here (not built, library absent, size not supported); says what to do.
class UnsupportedError : public Error {
 public:
  using Error::Error;
};

/// Memory, disk or result limit; the message holds the figure asked for, the limit, and the option to change.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A file or stream failed; the message holds the path and, where known, the byte offset.
class IoError : public Error {
 public:
  using Error::Error;
};

/// The accelerator failed while it worked.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// The search was cancelled through `Observer::cancelled`.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace rthiss
