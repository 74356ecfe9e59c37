#pragma once

namespace rthiss::cli {

/// Called in a catch block: writes one line on stderr for the exception at hand and returns its exit code.
[[nodiscard]] int report_current_exception();

}  // namespace rthiss::cli
