#include <algorithm>

#include "engine/cuda/refine/tile_filter.hpp"
#include "engine/cuda/refine/tile_kernels.cuh"
#include "engine/cuda/sort.hpp"

namespace rthiss::cuda {

namespace {

// A task's entries: groups (of one warp, or of a block of four), or single queries (64 to a tile).
constexpr std::uint32_t kWarpEntries = 64;
constexpr std::uint32_t kBlockEntries = 128;
constexpr std::uint32_t kSingleEntries = 1024;
// Lists whose tasks alternate: the tasks that run at a time then read the same queries, which stay in the second cache.
constexpr std::uint32_t kWindow = 128;

/// values[window] = tasks of its lists: `window` times those of the one that has most.
__global__ void task_kernel(DeviceLists lists, const std::uint32_t* group_begin, std::uint32_t entries,
                            std::uint32_t window, std::uint32_t windows, std::uint32_t* values) {
  const std::uint32_t number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number > windows) return;
  std::uint64_t most = 0;
  for (std::uint64_t list = std::uint64_t{number} * window; list < std::uint64_t{number + 1} * window; ++list) {
    if (list >= lists.lists) break;
    const std::uint32_t group = lists.group_ids[list];
    const std::uint64_t parts = (group_begin[group + 1] - group_begin[group] + kSide - 1) / kSide;
    most = max(most, parts * ((lists.begin[list + 1] - lists.begin[list] + entries - 1) / entries));
  }
  values[number] = static_cast<std::uint32_t>(most * window);
}

}  // namespace

TileTasks::TileTasks(const DeviceLists& lists, const DeviceTask& task, const FilterData& rows, DeviceMemory& memory,
                     Stream stream) {
  const bool resident = rows.chunks() == 1;
  entries_ = task.single_queries ? kSingleEntries : resident ? kWarpEntries : kBlockEntries;
  window_ = resident ? 1 : kWindow;
  if (lists.lists == 0) return;
  // Of large groups, few entries make a task.
  const std::uint32_t block_rows = task.queries.groups == 0 ? 1 : task.queries.rows / task.queries.groups;
  if (!task.single_queries && block_rows > 2 * kSide) {
    entries_ = std::max<std::uint32_t>(1, entries_ * kSide / block_rows);
  }
  const std::uint32_t windows = (lists.lists + window_ - 1) / window_;
  DeviceArray<std::uint32_t> counts(memory, std::size_t{windows} + 1, stream, "the tasks of a batch");
  begin_ = DeviceArray<std::uint64_t>(memory, std::size_t{windows} + 1, stream, "the tasks of a batch");
  task_kernel<<<blocks_for(std::size_t{windows} + 1, 64), 64, 0, stream>>>(lists, task.points.group_begin, entries_,
                                                                           window_, windows, counts.data());
  check_launch("tasks of a batch");
  exclusive_sums(counts.data(), begin_.data(), windows, memory, stream);
  copy_to_host(begin_.data() + windows, 1, &size_, stream);
}

void filter_tiles(const DeviceTask& task, const FilterData& rows, const DeviceLists& lists, const TileTasks& tasks,
                  std::uint64_t first, std::uint64_t last, const PairRule& rule, const HitTarget& target,
                  Stream stream) {
  if (first >= last) return;
  TileArguments all{};
  all.points = rows.points();
  all.queries = rows.queries();
  all.point_groups = task.points.group_begin;
  all.query_groups = task.single_queries ? nullptr : task.queries.group_begin;
  all.lists = lists;
  all.task_begin = tasks.begin();
  all.first = first;
  all.last = last;
  all.entries = tasks.entries();
  all.window = tasks.window();
  all.chunks = rows.chunks();
  all.segment_chunks = all.points.padded / all.points.chunk;
  all.rule = rule;
  all.target = target;
  check(cudaMemsetAsync(&target.tally->next, 0, sizeof target.tally->next, stream), "cudaMemsetAsync");
  if (all.chunks == 1) {
    launch_resident_tiles(all, task.single_queries, stream);
  } else {
    launch_streamed_tiles(all, task.single_queries, stream);
  }
}

}  // namespace rthiss::cuda
