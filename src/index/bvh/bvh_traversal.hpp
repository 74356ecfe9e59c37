#pragma once

#include <cstddef>
#include <cstdint>

#include "index/bvh/bvh_nodes.hpp"

namespace rthiss {

/// Room that must follow the last id: a vector of ids is stored whole.
inline constexpr std::size_t kBvhIdPadding = 16;

/// Writes the near groups of [begin, end), ascending, to `ids` and gives their number. `ids` has room for
/// end - begin + kBvhIdPadding. Needs at least one level.
using BvhTraversal = std::size_t (*)(const BvhView& bvh, const BvhQuery& query, const CandidateThreshold& threshold,
                                     std::uint32_t begin, std::uint32_t end, std::uint32_t* ids);

/// The version for this processor's best instruction set.
[[nodiscard]] BvhTraversal best_bvh_traversal();

}  // namespace rthiss
