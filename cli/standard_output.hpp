#pragma once

#include <string_view>

namespace rthiss::cli {

/// Writes all of `text` to standard output. Throws ClosedPipe when its reader has gone, IoError for other failures.
void write_standard_output(std::string_view text);

/// Standard output is a pipe whose reader has gone.
[[nodiscard]] bool standard_output_closed() noexcept;

}  // namespace rthiss::cli
