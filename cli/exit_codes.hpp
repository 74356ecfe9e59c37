#pragma once

namespace rthiss::cli {

/// What the process tells its caller. Ends by a signal add its number to 128: 130 interrupted, 143 terminated, 141
/// standard output closed by its reader.
enum ExitCode : int {
  kDone = 0,
  kInternal = 1,     ///< a fault of the program or of a device
  kUsage = 2,        ///< options that make no sense, whatever the data
  kBadInput = 3,     ///< a file's contents; for `verify` also a stored result that is wrong
  kUnsupported = 4,  ///< right, but not available here
  kLimit = 5,        ///< out of memory, or over a limit
  kInputOutput = 6,  ///< a file that cannot be opened, read or written
  kSignalOffset = 128,
};

}  // namespace rthiss::cli
