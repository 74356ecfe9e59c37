#include "engine/cuda/chunk_parts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/parallel.hpp"

namespace rthiss::cuda {

namespace {

constexpr std::size_t kRowGrain = 256;

}  // namespace

NeighborChunk join_parts(const std::vector<NeighborChunk>& parts) {
  NeighborChunk out;
  const std::size_t rows = parts.front().query_ids.size();
  const bool with_values =
      std::any_of(parts.begin(), parts.end(), [](const NeighborChunk& part) { return !part.distances.empty(); });
  out.query_ids = Array<std::uint32_t>(parts.front().query_ids.span());
  out.row_begin = Array<std::uint64_t>(rows + 1, 0);
  for (const NeighborChunk& part : parts) {
    for (std::size_t r = 0; r <= rows; ++r) out.row_begin[r] += part.row_begin[r];
  }
  out.neighbor_ids = Array<std::uint32_t>(out.row_begin[rows]);
  if (with_values) out.distances = Array<double>(out.row_begin[rows]);
  std::vector<std::pair<std::uint32_t, double>> row;
  for (std::size_t r = 0; r < rows; ++r) {
    row.clear();
    for (const NeighborChunk& part : parts) {
      for (std::uint64_t at = part.row_begin[r]; at < part.row_begin[r + 1]; ++at) {
        row.emplace_back(part.neighbor_ids[at], with_values ? part.distances[at] : 0.0);
      }
    }
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.neighbor_ids[out.row_begin[r] + i] = row[i].first;
      if (with_values) out.distances[out.row_begin[r] + i] = row[i].second;
    }
  }
  return out;
}

void fill_open_values(const DeviceTask& task, NeighborChunk& chunk) {
  task.pool->for_ranges(0, chunk.query_ids.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<double> x(task.points_data->columns()), y(x.size());
    for (std::size_t r = begin; r < end; ++r) {
      bool have_query = false;
      for (std::uint64_t at = chunk.row_begin[r]; at < chunk.row_begin[r + 1]; ++at) {
        if (!std::isnan(chunk.distances[at])) continue;
        if (!have_query) task.queries_data->read_row(chunk.query_ids[r], x.data());
        have_query = true;
        task.points_data->read_row(chunk.neighbor_ids[at], y.data());
        chunk.distances[at] = task.decider->value(x.data(), y.data());
      }
    }
  });
}

}  // namespace rthiss::cuda
