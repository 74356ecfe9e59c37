#include "error_report.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "errors.hpp"
#include "exit_codes.hpp"
#include "interruption.hpp"
#include "standard_output.hpp"

namespace rthiss::cli {

namespace {

int complain(ExitCode code, const char* message, const char* prefix = "") {
  fmt::print(stderr, "rthiss: {}{}\n", prefix, message);
  return code;
}

}  // namespace

int report_current_exception() {
  try {
    throw;
  } catch (const ClosedPipe&) {
    return kSignalOffset + SIGPIPE;
  } catch (const Cancelled&) {
    fmt::print(stderr, "rthiss: interrupted; no output was written\n");
    return kSignalOffset + interrupting_signal();
  } catch (const UsageError& error) {
    return complain(kUsage, error.what());
  } catch (const InvalidArgument& error) {
    return complain(kBadInput, error.what());
  } catch (const UnsupportedError& error) {
    return complain(kUnsupported, error.what());
  } catch (const DeviceError& error) {
    return complain(kInternal, error.what());
  } catch (const OutOfMemory& error) {
    return complain(kLimit, error.what());
  } catch (const IoError& error) {
    // A result that goes to standard output fails like any file when the reader leaves.
    if (standard_output_closed()) return kSignalOffset + SIGPIPE;
    return complain(kInputOutput, error.what());
  } catch (const std::bad_alloc&) {
    return complain(kLimit, "out of memory; lower --memory-limit, write to a file, or count only");
  } catch (const std::exception& error) {
    return complain(kInternal, error.what(), "internal error: ");
  }
}

}  // namespace rthiss::cli
