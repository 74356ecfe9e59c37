#pragma once

#include <cuda/std/bit>
#include <type_traits>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/refine/hit_output.cuh"
#include "engine/cuda/refine/matrix_units.cuh"
#include "engine/cuda/refine/tile_filter.hpp"

namespace rthiss::cuda {

inline constexpr std::uint32_t kSide = 64;  // points of a tile, and queries of a whole one

struct TileArguments {
  FilterRows points, queries;
  const std::uint32_t *point_groups, *query_groups;  // group_begin; that of the queries is null where they are single
  DeviceLists lists;
  const std::uint64_t* task_begin;
  std::uint64_t first, last;
  std::uint32_t entries, window;
  std::uint32_t chunks, segment_chunks;  // of a dot product; of one of its segments
  PairRule rule;
  HitTarget target;
};

/// kChunk / 4 numbers of float16: what a lane holds of a chunk of a row.
template <int kChunk>
struct Fragment {
  std::uint32_t words[kChunk / 8];
};

template <int kChunk, bool kShared = false>
__device__ inline Fragment<kChunk> load_fragment(const __half* values, std::uint32_t lane) {
  using Words = std::conditional_t<kChunk == 32, uint4, uint2>;
  static_assert(sizeof(Words) == sizeof(Fragment<kChunk>));
  const auto* const at = reinterpret_cast<const Words*>(values) + lane % 4;
  return ::cuda::std::bit_cast<Fragment<kChunk>>(kShared ? *at : __ldg(at));
}

/// Sixteen rows of points: fragments of the rows l / 4 and l / 4 + 8.
template <int kChunk>
struct RowPair {
  Fragment<kChunk> upper, lower;
};

template <int kChunk, bool kShared = false>
__device__ RowPair<kChunk> load_rows(const __half* values, std::uint32_t lane) {
  const __half* row = values + lane / 4 * kChunk;
  return {load_fragment<kChunk, kShared>(row, lane), load_fragment<kChunk, kShared>(row + 8 * kChunk, lane)};
}

template <int kChunk>
__device__ void multiply_chunk(float (&sums)[4], const RowPair<kChunk>& a, const Fragment<kChunk>& b,
                               const float (&in)[4]) {
  const std::uint32_t first[4] = {a.upper.words[0], a.lower.words[0], a.upper.words[1], a.lower.words[1]};
  multiply_add(sums, first, b.words[0], b.words[1], in);
  if constexpr (kChunk == 32) {
    const std::uint32_t second[4] = {a.upper.words[2], a.lower.words[2], a.upper.words[3], a.lower.words[3]};
    multiply_add(sums, second, b.words[2], b.words[3], sums);
  }
}

__device__ inline std::uint32_t warp_or(std::uint32_t bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(kWholeWarp, bits);
#else
  for (int offset = 16; offset > 0; offset /= 2) bits |= __shfl_xor_sync(kWholeWarp, bits, offset);
  return bits;
#endif
}

/// Up to 64 points of a group.
struct PointTile {
  std::uint32_t first, count;
};

/// Where a block's queries stand.
template <bool kSingle>
struct QueryTile {
  const std::uint32_t* ids;  // single queries
  std::uint32_t first, count;

  /// Position of the query in a column; that of the last one beyond it.
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t column) const {
    const std::uint32_t inside = min(column, count - 1);
    if constexpr (kSingle) return __ldg(ids + inside);
    return first + inside;
  }
};

/// Up to 64 points of a list's group against up to `entries` of the list.
struct TaskPlace {
  std::uint32_t group, part, entries;
  std::uint64_t first_entry;
};

/// Where a task works; false where it is one of those that fill up a window of lists.
__device__ inline bool find_task(const TileArguments& all, std::uint64_t task, TaskPlace& place) {
  std::uint32_t low = 0, high = (all.lists.lists + all.window - 1) / all.window;
  while (high - low > 1) {  // task_begin[low] <= task < task_begin[high]
    const std::uint32_t middle = low + (high - low) / 2;
    if (__ldg(all.task_begin + middle) <= task) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const std::uint64_t within = task - all.task_begin[low];
  const std::uint32_t list = low * all.window + static_cast<std::uint32_t>(within % all.window);
  if (list >= all.lists.lists) return false;
  const std::uint64_t number = within / all.window;
  place.group = all.lists.group_ids[list];
  const std::uint64_t begin = all.lists.begin[list], end = all.lists.begin[list + 1];
  const std::uint64_t segments = (end - begin + all.entries - 1) / all.entries;
  const std::uint32_t rows = all.point_groups[place.group + 1] - all.point_groups[place.group];
  if (number >= segments * ((rows + kSide - 1) / kSide)) return false;
  place.part = static_cast<std::uint32_t>(number / segments);
  place.first_entry = begin + number % segments * all.entries;
  place.entries = static_cast<std::uint32_t>(min(std::uint64_t{all.entries}, end - place.first_entry));
  return true;
}

__device__ inline PointTile tile_of(const TileArguments& all, const TaskPlace& place) {
  PointTile tile;
  tile.first = all.point_groups[place.group] + place.part * kSide;
  tile.count = min(all.point_groups[place.group + 1] - tile.first, kSide);
  return tile;
}

/// Starts of the sums of the points i * 16 + lane / 4 and 8 further; rows beyond the tile reject everything.
__device__ inline void load_starts(const TileArguments& all, const PointTile& tile, std::uint32_t lane,
                                   float (&start)[4][2]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const std::uint32_t row = i * 16 + v * 8 + lane / 4;
      start[i][v] = row < tile.count ? all.points.start[tile.first + row] : -kFilterNever;
    }
  }
}

/// Blocks of threads that fill the device, or fewer for fewer tasks.
template <typename Kernel>
unsigned filling_blocks(Kernel kernel, unsigned threads, std::size_t shared, std::uint64_t wanted) {
  int device = 0, processors = 0, resident = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(threads), shared),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::uint64_t most = std::uint64_t(processors) * std::uint64_t(resident < 1 ? 1 : resident);
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

/// Rows of one chunk: points in registers.
void launch_resident_tiles(const TileArguments& all, bool single, Stream stream);
/// Longer rows: points in shared memory where they fit.
void launch_streamed_tiles(const TileArguments& all, bool single, Stream stream);

}  // namespace rthiss::cuda
