#pragma once

#include <algorithm>
#include <cstdint>

#include "index/group_index.hpp"

namespace rthiss {

/// The groups that a range admits for one block: two ascending half-open intervals, either of which may be empty.
struct AllowedGroups {
  struct Interval {
    std::uint32_t begin = 0, end = 0;
    [[nodiscard]] bool empty() const noexcept { return begin >= end; }
  };
  Interval parts[2];
};

[[nodiscard]] inline AllowedGroups allowed_groups(const CandidateRange& range, std::uint32_t block) noexcept {
  if (!range.each_pair_once) return {{{range.group_begin, range.group_end}, {}}};
  return {{{range.group_begin, std::min(range.group_end, range.whole_block_begin.value_or(range.block_begin))},
           {std::max(range.group_begin, block), range.group_end}}};
}

/// Throws InvalidArgument where the range names blocks or groups that are not there.
void check_range(const CandidateRange& range, std::size_t groups, std::size_t components);

/// Blocks of one task of `visit`: enough tasks for a balanced load, few enough that handing them out costs nothing.
[[nodiscard]] inline std::size_t blocks_per_task(std::size_t blocks, int threads) noexcept {
  return std::clamp<std::size_t>(blocks / (16 * static_cast<std::size_t>(threads)), 1, 64);
}

}  // namespace rthiss
