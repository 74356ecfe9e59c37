#include "result/chunk_check.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

namespace rthiss {

void ChunkCheck::begin(const ResultShape& shape) {
  shape_ = shape;
  seen_.assign(shape.queries, false);
}

void ChunkCheck::accept(const NeighborChunk& chunk) {
  const std::size_t rows = chunk.query_ids.size();
  if (chunk.row_begin.size() != rows + 1 || chunk.row_begin[0] != 0) {
    throw InvalidArgument(fmt::format("result chunk of {} rows: row_begin must hold {} offsets from 0, it holds {}",
                                      rows, rows + 1, chunk.row_begin.size()));
  }
  if (chunk.neighbor_ids.size() != chunk.row_begin.back()) {
    throw InvalidArgument(fmt::format("result chunk of {} rows: {} neighbour ids, row_begin ends at {}", rows,
                                      chunk.neighbor_ids.size(), chunk.row_begin.back()));
  }
  const std::size_t distances = shape_.has_distances ? chunk.neighbor_ids.size() : 0;
  if (chunk.distances.size() != distances) {
    throw InvalidArgument(
        fmt::format("result chunk of {} rows: {} distances, expected {}", rows, chunk.distances.size(), distances));
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t query = chunk.query_ids[r];
    if (query >= shape_.queries) {
      throw InvalidArgument(fmt::format("result chunk, row {}: query {} of {}", r, query, shape_.queries));
    }
    if (r > 0 && query <= chunk.query_ids[r - 1]) {
      throw InvalidArgument(fmt::format("result chunk, row {}: query {} does not ascend", r, query));
    }
    if (chunk.row_begin[r + 1] < chunk.row_begin[r]) {
      throw InvalidArgument(fmt::format("result chunk, row {}: row_begin descends", r));
    }
    if (seen_[query]) throw InvalidArgument(fmt::format("result: query {} came twice", query));
    seen_[query] = true;
  }
}

void ChunkCheck::finish() const {
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (!seen_[i]) throw InvalidArgument(fmt::format("result: query {} of {} never came", i, seen_.size()));
  }
}

}  // namespace rthiss
