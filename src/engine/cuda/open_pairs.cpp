#include "engine/cuda/open_pairs.hpp"

#include <algorithm>
#include <mutex>

#include "common/parallel.hpp"
#include "engine/cuda/launch.hpp"

namespace rthiss::cuda {

namespace {

constexpr std::size_t kGrain = 1024;

std::vector<std::uint32_t> ids_on_host(const DeviceSet& set, Stream stream) {
  std::vector<std::uint32_t> ids(set.rows);
  copy_to_host(set.original_id, set.rows, ids.data(), stream);
  return ids;
}

}  // namespace

void decide_open_pairs(const DeviceTask& task, std::vector<OpenPair>& pairs, Stream stream, TierCounts& decided) {
  if (pairs.empty()) return;
  const std::vector<std::uint32_t> points = ids_on_host(task.points, stream);
  const std::vector<std::uint32_t> other =
      task.self_join ? std::vector<std::uint32_t>() : ids_on_host(task.queries, stream);
  const std::vector<std::uint32_t>& queries = task.self_join ? points : other;
  std::vector<std::uint8_t> within(pairs.size());
  std::mutex mutex;
  task.pool->for_ranges(0, pairs.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<double> x(task.points_data->columns()), y(x.size());
    TierCounts counts;
    for (std::size_t i = begin; i < end; ++i) {
      task.queries_data->read_row(queries[pairs[i].query], x.data());
      task.points_data->read_row(points[pairs[i].point], y.data());
      within[i] = task.decider->within(x.data(), y.data(), counts) ? 1 : 0;
    }
    const std::lock_guard lock(mutex);
    decided += counts;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (within[i] != 0) pairs[kept++] = pairs[i];
  }
  pairs.resize(kept);
}

}  // namespace rthiss::cuda
