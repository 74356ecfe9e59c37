#pragma once

#include <stdexcept>

namespace rthiss::cli {

/// The command line makes no sense (exit code 2).
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whoever read our standard output has gone; the program ends without a word.
class ClosedPipe : public std::runtime_error {
 public:
  ClosedPipe() : std::runtime_error("standard output was closed") {}
};

}  // namespace rthiss::cli
