#pragma once

#include <cstdint>
#include <string_view>

namespace rthiss::cli {

// The parsers of option values; `option` is for messages. All throw UsageError. None depends on the locale, and
// numbers are rounded once, which a radius must be.

/// A decimal or hexadecimal ("0x1.8p1") number, "inf" included; not NaN.
[[nodiscard]] double parse_number(std::string_view option, std::string_view text);
/// A number >= 0, "inf" included.
[[nodiscard]] double parse_radius(std::string_view option, std::string_view text);
/// An integer in [low, high]; "1e9" is one too.
[[nodiscard]] std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t low,
                                          std::uint64_t high);
/// Bytes > 0: "500", "8GiB", "1.5 GB", "64k" (units B, KB = 1000, KiB = 1024, ...; a letter alone counts 1024).
[[nodiscard]] std::uint64_t parse_size(std::string_view option, std::string_view text);

}  // namespace rthiss::cli
