#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace rthiss::cli {

/// 1234567 -> "1,234,567".
[[nodiscard]] std::string with_commas(std::uint64_t value);
/// 3221225472 -> "3.00 GiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// The fewest digits that read back to the same double; "inf" for infinity.
[[nodiscard]] std::string exact_text(double value);
/// A JSON number, or "inf", "-inf" or "nan" as a string where JSON has no number.
[[nodiscard]] nlohmann::ordered_json json_number(double value);

}  // namespace rthiss::cli
