#pragma once

#include <rthiss/result_sink.hpp>

#include "common/parallel.hpp"
#include "refinement/refinement_task.hpp"

namespace rthiss {

/// Stream compaction (paper, section IV-E): the bits of `mask` become ascending neighbour ids, for all queries of the
/// blocks [block_begin, block_end). Rows of the chunk are in the caller's order.
[[nodiscard]] NeighborChunk compact(const HitMask& mask, const RefinementTask& task, std::uint32_t block_begin,
                                    std::uint32_t block_end, bool distances, const ThreadPool& pool);

}  // namespace rthiss
