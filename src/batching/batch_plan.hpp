#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rthiss {

/// Bytes that a batch needs, as linear functions of what it holds.
struct ByteModel {
  std::uint64_t per_block = 0;      ///< a query block: rows, counts
  std::uint64_t per_candidate = 0;  ///< a (block, group) candidate: list entry and hit mask
};

/// Query blocks that are worked on together, or a part of one block's groups.
struct QueryBatch {
  std::uint32_t block_begin = 0, block_end = 0;
  std::uint32_t group_begin = 0, group_end = 0;
  std::uint64_t candidates = 0;  ///< from the first intersection test; upper bound where a block is split
  std::uint64_t predicted_bytes = 0;
  bool completes_rows = true;  ///< false for all but the last part of a split block
};

/// Half-open ranges that tile the blocks in order, each within the budget.
using BatchPlan = std::vector<QueryBatch>;

/// Takes consecutive blocks until the bytes would pass `budget` (paper, section IV-D: window batches under I_max).
/// A block that alone passes it is split by equal ranges of groups. Pure function.
/// Throws OutOfMemory where not even one candidate fits.
[[nodiscard]] BatchPlan plan_batches(std::span<const std::uint32_t> candidates_per_block, std::uint32_t groups,
                                     const ByteModel& model, std::uint64_t budget);

}  // namespace rthiss
