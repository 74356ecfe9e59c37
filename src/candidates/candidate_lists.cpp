#include "candidates/candidate_lists.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/parallel.hpp"

namespace rthiss {
namespace {

/// Candidates that the filling pass holds by block before it sorts them into the lists of the groups: the only memory
/// beyond the lists themselves.
constexpr std::uint64_t kWindowCandidates = std::uint64_t{1} << 20;

[[noreturn]] void throw_passes_differ(std::uint32_t block) {
  throw std::logic_error("candidates: the counting and the filling pass found different groups for block " +
                         std::to_string(block));
}

/// Turns windows of consecutive blocks from lists by block into lists by group. Windows go in ascending order and each
/// group belongs to one thread, so lists come out sorted without atomics and without sorting.
class ListFiller {
 public:
  ListFiller(const GroupIndex& index, const CandidateRange& range, const IntersectionCounts& counts,
             const ThreadPool& pool, Array<std::uint64_t>& cursor, Array<std::uint32_t>& block_ids)
      : index_(index),
        range_(range),
        counts_(counts),
        pool_(pool),
        cursor_(cursor),
        block_ids_(block_ids),
        parts_(group_parts()) {}

  void fill() {
    std::uint32_t begin = range_.block_begin;
    while (begin < range_.block_end) {
      std::uint64_t candidates = 0;
      std::uint32_t end = begin;
      std::vector<std::uint64_t> offsets{0};
      while (end < range_.block_end) {
        const std::uint32_t count = counts_.per_block[end - range_.block_begin];
        if (end > begin && candidates + count > kWindowCandidates) break;
        candidates += count;
        offsets.push_back(candidates);
        ++end;
      }
      fill_window(begin, end, offsets);
      begin = end;
    }
  }

 private:
  /// Intervals of groups with about equally many candidates: small enough that the ends of a part's lists stay in the
  /// first cache and its pages in the TLB, but so few that finding a part's entries in a block's list costs little.
  [[nodiscard]] std::vector<std::uint32_t> group_parts() const {
    constexpr std::uint64_t groups_in_cache = 256, entries_per_search = 16;
    const std::uint64_t wanted = (range_.group_end - range_.group_begin) / groups_in_cache;
    const std::uint64_t affordable = counts_.total / (entries_per_search * (counts_.per_block.size() + 1));
    const auto least = 4 * static_cast<std::uint64_t>(pool_.threads());
    const std::uint64_t share = counts_.total / std::max(least, std::min(wanted, affordable)) + 1;
    std::vector<std::uint32_t> parts{range_.group_begin};
    std::uint64_t sum = 0;
    for (std::uint32_t group = range_.group_begin; group < range_.group_end; ++group) {
      sum += counts_.per_group[group];
      if (sum >= share) {
        parts.push_back(group + 1);
        sum = 0;
      }
    }
    if (parts.back() != range_.group_end) parts.push_back(range_.group_end);
    return parts;
  }

  void fill_window(std::uint32_t begin, std::uint32_t end, const std::vector<std::uint64_t>& offsets) {
    if (window_.size() < offsets.back()) window_ = Array<std::uint32_t>(offsets.back());
    CandidateRange part = range_;
    part.block_begin = begin;
    part.block_end = end;
    part.whole_block_begin = range_.whole_block_begin.value_or(range_.block_begin);
    index_.visit(part, pool_, [&](std::uint32_t block, std::span<const std::uint32_t> groups, int) {
      const std::uint64_t at = offsets[block - begin];
      const std::uint64_t room = offsets[block - begin + 1] - at;
      if (groups.size() != room) throw_passes_differ(block);
      std::copy(groups.begin(), groups.end(), window_.data() + at);
    });
    pool_.for_tasks(parts_.size() - 1, [&](std::size_t task, int) {
      const std::uint32_t first = parts_[task], last = parts_[task + 1];
      for (std::uint32_t block = begin; block < end; ++block) {
        const std::uint32_t* const list_end = window_.data() + offsets[block - begin + 1];
        const std::uint32_t* entry =
            std::lower_bound(std::as_const(window_).data() + offsets[block - begin], list_end, first);
        for (; entry != list_end && *entry < last; ++entry) {
          const std::uint64_t place = cursor_[*entry]++;
          if (place >= block_ids_.size()) throw_passes_differ(block);
          block_ids_[place] = block;
        }
      }
    });
  }

  const GroupIndex& index_;
  const CandidateRange& range_;
  const IntersectionCounts& counts_;
  const ThreadPool& pool_;
  Array<std::uint64_t>& cursor_;  ///< [groups] next free place in block_ids
  Array<std::uint32_t>& block_ids_;
  Array<std::uint32_t> window_;
  std::vector<std::uint32_t> parts_;
};

}  // namespace

IntersectionCounts count_candidates(const GroupIndex& index, const CandidateRange& range, std::size_t groups,
                                    const ThreadPool& pool) {
  IntersectionCounts counts;
  counts.per_block = Array<std::uint32_t>(range.block_end - range.block_begin, 0u);
  counts.per_group = Array<std::uint32_t>(groups, 0u);
  std::vector<Array<std::uint32_t>> by_worker(static_cast<std::size_t>(pool.threads()));
  index.visit(range, pool, [&](std::uint32_t block, std::span<const std::uint32_t> found, int worker) {
    counts.per_block[block - range.block_begin] = static_cast<std::uint32_t>(found.size());
    Array<std::uint32_t>& mine = by_worker[static_cast<std::size_t>(worker)];
    if (mine.empty()) mine = Array<std::uint32_t>(groups, 0u);
    for (const std::uint32_t group : found) ++mine[group];
  });
  pool.for_ranges(0, groups, 4096, [&](std::size_t begin, std::size_t end) {
    for (const Array<std::uint32_t>& part : by_worker) {
      if (part.empty()) continue;
      for (std::size_t group = begin; group < end; ++group) counts.per_group[group] += part[group];
    }
  });
  counts.total = std::accumulate(counts.per_block.begin(), counts.per_block.end(), std::uint64_t{0});
  return counts;
}

CandidateLists fill_candidates(const GroupIndex& index, const CandidateRange& range, const IntersectionCounts& counts,
                               const ThreadPool& pool) {
  std::vector<std::uint32_t> order;
  for (std::size_t group = 0; group < counts.per_group.size(); ++group) {
    if (counts.per_group[group] != 0) order.push_back(static_cast<std::uint32_t>(group));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts.per_group[a] > counts.per_group[b]; });

  CandidateLists lists;
  lists.group_ids = Array<std::uint32_t>(std::span<const std::uint32_t>(order));
  lists.begin = Array<std::uint64_t>(order.size() + 1);
  lists.block_ids = Array<std::uint32_t>(counts.total);
  Array<std::uint64_t> cursor(counts.per_group.size(), 0);
  lists.begin[0] = 0;
  for (std::size_t list = 0; list < order.size(); ++list) {
    cursor[order[list]] = lists.begin[list];
    lists.begin[list + 1] = lists.begin[list] + counts.per_group[order[list]];
  }
  ListFiller(index, range, counts, pool, cursor, lists.block_ids).fill();
  for (std::size_t list = 0; list < order.size(); ++list) {
    if (cursor[order[list]] != lists.begin[list + 1]) {
      throw std::logic_error("candidates: the counting and the filling pass found different blocks for group " +
                             std::to_string(order[list]));
    }
  }
  return lists;
}

}  // namespace rthiss
