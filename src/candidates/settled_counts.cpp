#include "candidates/settled_counts.hpp"

#include <rthiss/array.hpp>

#include <algorithm>
#include <vector>

#include "common/parallel.hpp"
#include "index/allowed_groups.hpp"

namespace rthiss {
namespace {

/// What one worker has found.
struct Share {
  SettledGroups::Finder finder;
  Array<std::uint64_t> per_block;  ///< [groups of the queries] for each query of the block
  /// [groups + 1] the other direction, for each point of a group: differences to the group before, modulo 2^64.
  Array<std::uint64_t> per_group_steps;
  SettledPairs pairs;
};

}  // namespace

SettledPairs add_settled(const CandidateRange& range, const Grouping& queries, const Grouping& points, bool drop_self,
                         std::uint64_t* counts, const ThreadPool& pool) {
  const std::size_t blocks = range.block_end - range.block_begin;
  const std::size_t chunk = blocks_per_task(blocks, pool.threads());
  std::vector<Share> shares(static_cast<std::size_t>(pool.threads()));
  pool.for_tasks((blocks + chunk - 1) / chunk, [&](std::size_t task, int worker) {
    Share& mine = shares[static_cast<std::size_t>(worker)];
    if (mine.per_block.empty()) {
      mine.per_block = Array<std::uint64_t>(queries.groups(), 0);
      mine.per_group_steps = Array<std::uint64_t>(points.groups() + 1, 0);
    }
    const std::size_t end = std::min(blocks, (task + 1) * chunk);
    for (std::size_t i = task * chunk; i < end; ++i) {
      const auto block = static_cast<std::uint32_t>(range.block_begin + i);
      const std::uint64_t rows = queries.group_begin[block + 1] - queries.group_begin[block];
      const auto add = [&](GroupInterval part) {
        if (part.empty()) return;
        const std::uint64_t columns = points.group_begin[part.end] - points.group_begin[part.begin];
        mine.per_block[block] += columns;
        mine.pairs.accepted += rows * columns;
        mine.pairs.ordered += rows * columns;
        if (!range.each_pair_once || part.begin == block) return;
        mine.per_group_steps[part.begin] += rows;
        mine.per_group_steps[part.end] -= rows;
        mine.pairs.ordered += rows * columns;
      };
      for (const GroupInterval allowed : allowed_groups(range, block).parts) {
        for (const GroupInterval part : mine.finder.find(*range.settled, *range.blocks, block, allowed)) {
          // A block's pairs with itself stand in both directions already.
          if (!range.each_pair_once || block < part.begin || block >= part.end) {
            add(part);
            continue;
          }
          add({part.begin, block});
          add({block, block + 1});
          add({block + 1, part.end});
          if (!drop_self) continue;
          mine.per_block[block] -= 1;
          mine.pairs.ordered -= rows;
        }
      }
    }
  });
  SettledPairs pairs;
  Array<std::uint64_t> whole(queries.groups(), 0);
  for (const Share& share : shares) {
    if (share.per_block.empty()) continue;
    std::uint64_t here = 0;
    for (std::size_t block = 0; block < queries.groups(); ++block) {
      if (range.each_pair_once) here += share.per_group_steps[block];
      whole[block] += share.per_block[block] + here;
    }
    pairs.ordered += share.pairs.ordered;
    pairs.accepted += share.pairs.accepted;
  }
  pool.for_ranges(0, queries.groups(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      if (whole[block] == 0) continue;
      for (std::uint32_t q = queries.group_begin[block]; q < queries.group_begin[block + 1]; ++q) {
        counts[queries.original_id[q]] += whole[block];
      }
    }
  });
  return pairs;
}

}  // namespace rthiss
