#include "engine/cuda/chunk_parts.hpp"

#include <algorithm>

#include "common/parallel.hpp"

namespace rthiss::cuda {

NeighborChunk join_parts(const std::vector<NeighborChunk>& parts) {
  NeighborChunk out;
  const std::size_t rows = parts.front().query_ids.size();
  out.query_ids = Array<std::uint32_t>(parts.front().query_ids.span());
  out.row_begin = Array<std::uint64_t>(rows + 1, 0);
  for (const NeighborChunk& part : parts) {
    for (std::size_t r = 0; r <= rows; ++r) out.row_begin[r] += part.row_begin[r];
  }
  out.neighbor_ids = Array<std::uint32_t>(out.row_begin[rows]);
  for (std::size_t r = 0; r < rows; ++r) {
    std::uint32_t* const first = out.neighbor_ids.data() + out.row_begin[r];
    std::uint32_t* last = first;
    for (const NeighborChunk& part : parts) {
      last = std::copy(part.neighbor_ids.data() + part.row_begin[r], part.neighbor_ids.data() + part.row_begin[r + 1],
                       last);
    }
    std::sort(first, last);
  }
  return out;
}

void add_distances(const DeviceTask& task, NeighborChunk& chunk) {
  chunk.distances = Array<double>(chunk.neighbor_ids.size());
  task.pool->for_ranges(0, chunk.query_ids.size(), 16, [&](std::size_t begin, std::size_t end) {
    std::vector<double> x(task.points_data->columns()), y(x.size());
    for (std::size_t r = begin; r < end; ++r) {
      if (chunk.row_begin[r] == chunk.row_begin[r + 1]) continue;
      task.queries_data->read_row(chunk.query_ids[r], x.data());
      for (std::uint64_t at = chunk.row_begin[r]; at < chunk.row_begin[r + 1]; ++at) {
        task.points_data->read_row(chunk.neighbor_ids[at], y.data());
        chunk.distances[at] = task.decider->value(x.data(), y.data());
      }
    }
  });
}

}  // namespace rthiss::cuda
