#pragma once

#include <vector>

#include "engine/cuda/refine/tile_filter.hpp"

namespace rthiss::cuda {

/// Hits in the order in which they were found.
struct PairPart {
  DeviceArray<OpenPair> pairs;
  std::uint64_t count = 0;
};

/// Puts the pairs into the rows of a chunk: neighbours [row_begin[rows]] are written, in any order within a row.
/// `rank` [rows]: row of the chunk of each position from rule.row_begin on. Parts are released as they are done.
void place_pairs(std::vector<PairPart>& parts, const DeviceTask& task, const PairRule& rule,
                 const std::uint64_t* row_begin, const std::uint32_t* rank, std::uint32_t rows,
                 std::uint32_t* neighbours, DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda
