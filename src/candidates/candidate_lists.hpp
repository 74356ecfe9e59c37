#pragma once

#include <rthiss/array.hpp>

#include <cstdint>

#include "index/group_index.hpp"

namespace rthiss {

/// First intersection test (paper, section IV-D): candidates of every block and of every group.
struct IntersectionCounts {
  Array<std::uint32_t> per_block;  ///< [blocks of the range]
  Array<std::uint32_t> per_group;  ///< [groups]
  std::uint64_t total = 0;         ///< equals both sums
};

/// For each group the query blocks that must be compared with it. Longest list first, so that no straggler is left
/// at the end; only block ids are stored, not pairs.
struct CandidateLists {
  Array<std::uint32_t> group_ids;  ///< [lists] groups with at least one block, by falling length, ties by id
  Array<std::uint64_t> begin;      ///< [lists + 1]
  Array<std::uint32_t> block_ids;  ///< [begin.back()], ascending within a list
};

/// The counting pass.
[[nodiscard]] IntersectionCounts count_candidates(const GroupIndex& index, const CandidateRange& range,
                                                  std::size_t groups, const ThreadPool& pool);

/// The filling pass: prefix sum over the groups of `counts`, then every block id into its group's slot.
/// Throws std::logic_error where the two passes differ (a broken index).
[[nodiscard]] CandidateLists fill_candidates(const GroupIndex& index, const CandidateRange& range,
                                             const IntersectionCounts& counts, const ThreadPool& pool);

}  // namespace rthiss
