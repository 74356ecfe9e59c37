#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "index/group_index.hpp"
#include "index/settled_groups.hpp"

namespace rthiss {

/// The groups that a range admits for one block: two ascending intervals, either of which may be empty.
struct AllowedGroups {
  GroupInterval parts[2];
};

[[nodiscard]] inline AllowedGroups allowed_groups(const CandidateRange& range, std::uint32_t block) noexcept {
  if (!range.each_pair_once) return {{{range.group_begin, range.group_end}, {}}};
  return {{{range.group_begin, std::min(range.group_end, range.whole_block_begin.value_or(range.block_begin))},
           {std::max(range.group_begin, block), range.group_end}}};
}

/// What of them an index has to look at: without the groups that the range's SettledGroups settle. One a worker.
class OpenGroups {
 public:
  /// Ascending intervals, none empty; valid until the next call.
  std::span<const GroupInterval> find(const CandidateRange& range, std::uint32_t block);

 private:
  SettledGroups::Finder finder_;
  std::vector<GroupInterval> open_;
};

/// Throws InvalidArgument where the range names blocks or groups that are not there.
void check_range(const CandidateRange& range, std::size_t groups, std::size_t components);

/// Blocks of one task of `visit`: enough tasks for a balanced load, few enough that handing them out costs nothing.
[[nodiscard]] inline std::size_t blocks_per_task(std::size_t blocks, int threads) noexcept {
  return std::clamp<std::size_t>(blocks / (16 * static_cast<std::size_t>(threads)), 1, 64);
}

}  // namespace rthiss
