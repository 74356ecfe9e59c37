#pragma once

#include <cstdint>

#include "grouping/grouping.hpp"
#include "index/group_index.hpp"

namespace rthiss {

class ThreadPool;

struct SettledPairs {
  std::uint64_t ordered = 0;   ///< pairs (query, neighbour)
  std::uint64_t accepted = 0;  ///< pairs of rows, those of a range with `each_pair_once` once
};

/// Adds the neighbours that `range.settled` settles for the blocks of the range to `counts` [queries in the caller's
/// order]: what the candidates of the same range leave out. With `each_pair_once` the blocks are the groups themselves,
/// and each pair of groups counts in both directions; `drop_self` then leaves out the pairs (i, i).
SettledPairs add_settled(const CandidateRange& range, const Grouping& queries, const Grouping& points, bool drop_self,
                         std::uint64_t* counts, const ThreadPool& pool);

}  // namespace rthiss
