#include "index/allowed_groups.hpp"

#include <rthiss/errors.hpp>

#include <string>

namespace rthiss {

std::span<const GroupInterval> OpenGroups::find(const CandidateRange& range, std::uint32_t block) {
  open_.clear();
  for (const GroupInterval part : allowed_groups(range, block).parts) {
    GroupInterval open = part;
    if (range.settled != nullptr) {
      for (const GroupInterval settled : finder_.find(*range.settled, *range.blocks, block, part)) {
        if (settled.begin > open.begin) open_.push_back({open.begin, settled.begin});
        open.begin = settled.end;
      }
    }
    if (!open.empty()) open_.push_back(open);
  }
  return open_;
}

void check_range(const CandidateRange& range, std::size_t groups, std::size_t components) {
  if (range.blocks == nullptr) throw InvalidArgument("index: the range has no blocks");
  if (range.block_begin > range.block_end || range.block_end > range.blocks->groups) {
    throw InvalidArgument("index: blocks " + std::to_string(range.block_begin) + " to " +
                          std::to_string(range.block_end) + " of " + std::to_string(range.blocks->groups));
  }
  if (range.group_begin > range.group_end || range.group_end > groups) {
    throw InvalidArgument("index: groups " + std::to_string(range.group_begin) + " to " +
                          std::to_string(range.group_end) + " of " + std::to_string(groups));
  }
  if (range.blocks->components < components) {
    throw InvalidArgument("index: the blocks have " + std::to_string(range.blocks->components) +
                          " components, the test needs " + std::to_string(components));
  }
}

}  // namespace rthiss
