#pragma once

#include <cstdint>

#include "engine/cuda/hierarchy.hpp"

namespace rthiss::cuda {

/// What an index finds for what. Device memory, not owned.
struct CandidateSets {
  BoxSet groups;
  BoxSet blocks;                               ///< boxes of groups of queries, or the queries themselves (by_query)
  BoxSet queries;                              ///< the queries one by one, in group order
  const std::uint32_t* query_begin = nullptr;  ///< [blocks + 1] first query of each block; not by_query
  /// Queries look for groups and enter themselves in their slots (the paper's way: any order within a list). Else a
  /// block is a group of queries, and lists ascend.
  bool by_query = false;
};

}  // namespace rthiss::cuda
