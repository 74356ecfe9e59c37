#pragma once

#include <rthiss/clustering.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace rthiss::cli {

/// Says that components are no cliques, and names a pair of rows that is farther apart than the radius.
[[nodiscard]] std::string far_pair_text(std::string_view what, std::uint64_t chained,
                                        const std::optional<FarPair>& far);
/// {first, second, distance}, or null.
[[nodiscard]] nlohmann::ordered_json far_pair_json(const std::optional<FarPair>& far);

}  // namespace rthiss::cli
