#include <type_traits>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/refine/hit_output.cuh"
#include "engine/cuda/refine/matrix_units.cuh"
#include "engine/cuda/refine/tile_filter.hpp"
#include "engine/cuda/sort.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 128;
constexpr std::uint32_t kSide = 64;
// A task's entries: groups, or single queries (64 to a tile).
constexpr std::uint32_t kGroupEntries = 64;
constexpr std::uint32_t kSingleEntries = 1024;

struct Arguments {
  FilterRows points, queries;
  const std::uint32_t *point_groups, *query_groups;  // group_begin; that of the queries is null where they are single
  DeviceLists lists;
  const std::uint64_t* task_begin;
  std::uint64_t first, last;
  std::uint32_t entries;
  std::uint32_t chunks, segment_chunks;  // of a dot product; of one of its segments
  PairRule rule;
  HitTarget target;
};

/// kChunk / 4 numbers of float16: what a lane holds of a chunk of a row.
template <int kChunk>
struct Fragment {
  std::uint32_t words[kChunk / 8];
};

template <int kChunk>
__device__ Fragment<kChunk> load_fragment(const __half* values, std::uint32_t lane) {
  Fragment<kChunk> out;
  const __half* at = values + lane % 4 * (kChunk / 4);
  if constexpr (kChunk == 32) {
    const uint4 loaded = __ldg(reinterpret_cast<const uint4*>(at));
    out.words[0] = loaded.x;
    out.words[1] = loaded.y;
    out.words[2] = loaded.z;
    out.words[3] = loaded.w;
  } else {
    const uint2 loaded = __ldg(reinterpret_cast<const uint2*>(at));
    out.words[0] = loaded.x;
    out.words[1] = loaded.y;
  }
  return out;
}

/// Sixteen rows of points: fragments of the rows l / 4 and l / 4 + 8.
template <int kChunk>
struct RowPair {
  Fragment<kChunk> upper, lower;
};

template <int kChunk>
__device__ RowPair<kChunk> load_rows(const __half* values, std::uint32_t stride, std::uint32_t lane) {
  const __half* row = values + std::size_t{lane / 4} * stride;
  return {load_fragment<kChunk>(row, lane), load_fragment<kChunk>(row + std::size_t{8} * stride, lane)};
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

__device__ std::uint32_t warp_or(std::uint32_t bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(kWholeWarp, bits);
#else
  for (int offset = 16; offset > 0; offset /= 2) bits |= __shfl_xor_sync(kWholeWarp, bits, offset);
  return bits;
#endif
}

__device__ std::uint32_t list_of(const Arguments& all, std::uint64_t task) {
  std::uint32_t low = 0, high = all.lists.lists;  // task_begin[low] <= task < task_begin[high]
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (__ldg(all.task_begin + middle) <= task) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Offsets of chunk `c` of a dot product. Split rows take three segments: hi.hi, hi.lo and lo.hi.
__device__ void chunk_offsets(const Arguments& all, std::uint32_t c, std::uint32_t chunk, std::uint32_t& a,
                              std::uint32_t& b) {
  const std::uint32_t segment = c / all.segment_chunks;
  const std::uint32_t within = (c - segment * all.segment_chunks) * chunk;
  a = within + (segment == 2 ? all.points.padded : 0);
  b = within + (segment == 1 ? all.points.padded : 0);
}

/// A warp's 64 points, and what is the same for all of its blocks.
struct PointTile {
  const __half* values;
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

/// Hits of a strip of 8 queries from its sums: start + p.q of the points i * 16 + lane / 4 (+ 8) and the queries
/// column + lane % 4 * 2 (+ 1).
template <bool kSingle>
__device__ void enter_strip(const Arguments& all, const float (&sums)[4][4], const PointTile& tile,
                            const QueryTile<kSingle>& queries, std::uint32_t column, bool same_group,
                            std::uint32_t lane, HitWriter& writer) {
  const std::uint32_t first = column + lane % 4 * 2;
  const std::uint32_t q[2] = {queries(first), queries(first + 1)};
  const float limit[2] = {first < queries.count ? __ldg(all.queries.limit_out + q[0]) : kFilterNever,
                          first + 1 < queries.count ? __ldg(all.queries.limit_out + q[1]) : kFilterNever};
  const float certain[2] = {__ldg(all.queries.limit_in + q[0]), __ldg(all.queries.limit_in + q[1])};
  std::uint32_t maybe = 0, sure = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      if (!(sums[i][v] >= limit[v % 2])) continue;
      const std::uint32_t p = tile.first + min(i * 16 + lane / 4 + v / 2 * 8, tile.count - 1);
      maybe |= 1U << (4 * i + v);
      if (sums[i][v] >= __fadd_ru(certain[v % 2], __ldg(all.points.shift + p))) sure |= 1U << (4 * i + v);
    }
  }
  writer.enter(maybe, sure, q, tile.first + lane / 4, same_group);
}

/// Short rows: the points stay in registers. First all strips are only looked at, with the loads of half a block in
/// flight; the few that have hits are computed again.
template <int kChunk, bool kSingle>
struct ResidentTile {
  static constexpr int kStrips = kSide / 8;
  static constexpr int kTogether = 4;
  RowPair<kChunk> points[4];

  __device__ void load(const Arguments&, const PointTile& tile, std::uint32_t lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i) points[i] = load_rows<kChunk>(tile.values + 16 * i * kChunk, kChunk, lane);
  }

  __device__ void strip(float (&sums)[4][4], const Fragment<kChunk>& b, const float (&start)[4][4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) multiply_chunk<kChunk>(sums[i], points[i], b, start[i]);
  }

  /// Bit s: some of the lane's pairs of strip s may be hits. `kFull`: 64 queries one after the other.
  template <bool kFull>
  __device__ std::uint32_t look(const Arguments& all, const float (&start)[4][4], const QueryTile<kSingle>& queries,
                                std::uint32_t lane) const {
    std::uint32_t found = 0;
    const __half* const rows = all.queries.values + std::size_t{queries.first + lane / 4} * kChunk;
    const float* const limit_out = all.queries.limit_out + queries.first + lane % 4 * 2;
#pragma unroll
    for (int s0 = 0; s0 < kStrips; s0 += kTogether) {
      Fragment<kChunk> b[kTogether];
      float limits[kTogether][2];
#pragma unroll
      for (int s = 0; s < kTogether; ++s) {
        const std::uint32_t column = 8 * (s0 + s);
        if constexpr (kFull) {
          b[s] = load_fragment<kChunk>(rows + column * kChunk, lane);
          limits[s][0] = __ldg(limit_out + column);
          limits[s][1] = __ldg(limit_out + column + 1);
        } else {
          const std::uint32_t own = column + lane % 4 * 2;
          b[s] = load_fragment<kChunk>(all.queries.values + std::size_t{queries(column + lane / 4)} * kChunk, lane);
#pragma unroll
          for (std::uint32_t v = 0; v < 2; ++v) {
            limits[s][v] = own + v < queries.count ? __ldg(all.queries.limit_out + queries(own + v)) : kFilterNever;
          }
        }
      }
#pragma unroll
      for (int s = 0; s < kTogether; ++s) {
        float sums[4][4];
        strip(sums, b[s], start);
        bool any = false;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int v = 0; v < 4; ++v) any |= sums[i][v] >= limits[s][v % 2];
        }
        found |= any ? 1U << (s0 + s) : 0U;
      }
    }
    return found;
  }

  __device__ void compare(const Arguments& all, const float (&start)[4][4], const PointTile& tile,
                          const QueryTile<kSingle>& queries, bool same_group, std::uint32_t lane,
                          HitWriter& writer) const {
    const std::uint32_t seen = !kSingle && queries.count == kSide ? look<!kSingle>(all, start, queries, lane)
                                                                  : look<false>(all, start, queries, lane);
    for (std::uint32_t found = warp_or(seen); found != 0; found &= found - 1) {
      const std::uint32_t column = 8 * (__ffs(found) - 1);
      const Fragment<kChunk> b =
          load_fragment<kChunk>(all.queries.values + std::size_t{queries(column + lane / 4)} * kChunk, lane);
      float sums[4][4];
      strip(sums, b, start);
      enter_strip(all, sums, tile, queries, column, same_group, lane, writer);
    }
  }
};

/// Long rows: chunk by chunk, the points from the first cache, the next chunk of the queries already on its way.
template <int kChunk, bool kSingle>
struct StreamedTile {
  __device__ void load(const Arguments&, const PointTile&, std::uint32_t) {}

  __device__ void compare(const Arguments& all, const float (&start)[4][4], const PointTile& tile,
                          const QueryTile<kSingle>& queries, bool same_group, std::uint32_t lane,
                          HitWriter& writer) const {
    constexpr int kStrips = 4;
    for (std::uint32_t column = 0; column < queries.count; column += 8 * kStrips) {
      const __half* rows[kStrips];
      float sums[kStrips][4][4];
      Fragment<kChunk> next[kStrips];
#pragma unroll
      for (int s = 0; s < kStrips; ++s) {
        rows[s] = all.queries.values + std::size_t{queries(column + 8 * s + lane / 4)} * all.queries.stride;
        next[s] = load_fragment<kChunk>(rows[s], lane);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int v = 0; v < 4; ++v) sums[s][i][v] = start[i][v];
        }
      }
      for (std::uint32_t c = 0; c < all.chunks; ++c) {
        std::uint32_t a_offset, b_offset, unused;
        chunk_offsets(all, c, kChunk, a_offset, unused);
        chunk_offsets(all, min(c + 1, all.chunks - 1), kChunk, unused, b_offset);
        Fragment<kChunk> b[kStrips];
#pragma unroll
        for (int s = 0; s < kStrips; ++s) {
          b[s] = next[s];
          next[s] = load_fragment<kChunk>(rows[s] + b_offset, lane);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const RowPair<kChunk> a = load_rows<kChunk>(tile.values + std::size_t{16} * i * all.points.stride + a_offset,
                                                      all.points.stride, lane);
#pragma unroll
          for (int s = 0; s < kStrips; ++s) multiply_chunk<kChunk>(sums[s][i], a, b[s], sums[s][i]);
        }
      }
#pragma unroll
      for (int s = 0; s < kStrips; ++s) {
        const std::uint32_t first = column + 8 * s + lane % 4 * 2;
        const float limit[2] = {
            first < queries.count ? __ldg(all.queries.limit_out + queries(first)) : kFilterNever,
            first + 1 < queries.count ? __ldg(all.queries.limit_out + queries(first + 1)) : kFilterNever};
        bool any = false;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int v = 0; v < 4; ++v) any |= sums[s][i][v] >= limit[v % 2];
        }
        if (__any_sync(kWholeWarp, any)) {
          enter_strip(all, sums[s], tile, queries, column + 8 * s, same_group, lane, writer);
        }
      }
    }
  }
};

/// One warp a task: 64 points (rows of the sums) stay, blocks of queries (columns) pass by. No barriers.
template <int kChunk, bool kResident, bool kSingle>
__global__ void __launch_bounds__(kThreads, kResident ? (kChunk == 16 ? 6 : 5) : 3)
    tile_kernel(const __grid_constant__ Arguments all) {
  const std::uint32_t lane = threadIdx.x % 32;
  HitWriter writer(all.target, all.rule, lane);
  unsigned long long compared = 0;
  for (;;) {
    std::uint64_t task = 0;
    if (lane == 0) task = all.first + atomicAdd(&all.target.tally->next, 1ULL);
    task = __shfl_sync(kWholeWarp, task, 0);
    if (task >= all.last) break;
    const std::uint32_t list = list_of(all, task);
    const std::uint32_t group = all.lists.group_ids[list];
    const std::uint64_t entry_begin = all.lists.begin[list], entry_end = all.lists.begin[list + 1];
    const std::uint64_t segments = (entry_end - entry_begin + all.entries - 1) / all.entries;
    const std::uint64_t local = task - all.task_begin[list];
    const auto part = static_cast<std::uint32_t>(local / segments);
    const std::uint64_t e0 = entry_begin + local % segments * all.entries;
    const auto entries = static_cast<std::uint32_t>(min(std::uint64_t{all.entries}, entry_end - e0));
    PointTile tile;
    tile.first = all.point_groups[group] + part * kSide;
    tile.count = min(all.point_groups[group + 1] - tile.first, kSide);
    tile.values = all.points.values + std::size_t{tile.first} * all.points.stride;
    float start[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t upper = i * 16 + lane / 4;
      start[i][0] = start[i][1] = upper < tile.count ? all.points.start[tile.first + upper] : -kFilterNever;
      start[i][2] = start[i][3] = upper + 8 < tile.count ? all.points.start[tile.first + upper + 8] : -kFilterNever;
    }
    std::conditional_t<kResident, ResidentTile<kChunk, kSingle>, StreamedTile<kChunk, kSingle>> points;
    points.load(all, tile, lane);
    if constexpr (kSingle) {
      for (std::uint32_t e = 0; e < entries; e += kSide) {
        const QueryTile<true> queries{all.lists.block_ids + e0 + e, 0, min(entries - e, kSide)};
        compared += std::uint64_t{tile.count} * queries.count;
        points.compare(all, start, tile, queries, all.rule.self_join, lane, writer);
      }
    } else {
      // Lane l knows the block of entry base + l.
      for (std::uint32_t base = 0; base < entries; base += 32) {
        const std::uint32_t here = min(entries - base, 32U);
        const std::uint32_t block = __ldg(all.lists.block_ids + e0 + base + min(lane, here - 1));
        const std::uint32_t block_begin = __ldg(all.query_groups + block);
        const std::uint32_t block_end = __ldg(all.query_groups + block + 1);
        for (std::uint32_t e = 0; e < here; ++e) {
          std::uint32_t q = __shfl_sync(kWholeWarp, block_begin, e);
          const std::uint32_t q_end = __shfl_sync(kWholeWarp, block_end, e);
          const bool same_group = all.rule.self_join && __shfl_sync(kWholeWarp, block, e) == group;
          for (; q < q_end; q += kSide) {
            const QueryTile<false> queries{nullptr, q, min(q_end - q, kSide)};
            compared += std::uint64_t{tile.count} * queries.count;
            points.compare(all, start, tile, queries, same_group, lane, writer);
          }
        }
      }
    }
  }
  writer.finish(lane == 0 ? compared : 0);
}

/// values[list] = tasks of the list.
__global__ void task_kernel(DeviceLists lists, const std::uint32_t* group_begin, std::uint32_t entries,
                            std::uint32_t* values) {
  const std::uint64_t list = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (list > lists.lists) return;
  std::uint32_t tasks = 0;
  if (list < lists.lists) {
    const std::uint32_t group = lists.group_ids[list];
    const std::uint64_t parts = (group_begin[group + 1] - group_begin[group] + kSide - 1) / kSide;
    tasks = static_cast<std::uint32_t>(parts * ((lists.begin[list + 1] - lists.begin[list] + entries - 1) / entries));
  }
  values[list] = tasks;
}

template <int kChunk, bool kResident>
void launch(const Arguments& all, bool single, Stream stream) {
  int device = 0, processors = 0, resident = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  const auto kernel = single ? tile_kernel<kChunk, kResident, true> : tile_kernel<kChunk, kResident, false>;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kThreads, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::uint64_t most = std::uint64_t(processors) * std::uint64_t(resident < 1 ? 1 : resident);
  const std::uint64_t blocks = (all.last - all.first + kThreads / 32 - 1) / (kThreads / 32);
  kernel<<<static_cast<unsigned>(blocks < most ? blocks : most), kThreads, 0, stream>>>(all);
  check_launch("filter of tiles");
}

}  // namespace

TileTasks::TileTasks(const DeviceLists& lists, const DeviceTask& task, DeviceMemory& memory, Stream stream)
    : entries_(task.single_queries ? kSingleEntries : kGroupEntries) {
  if (lists.lists == 0) return;
  // Of large groups, few entries make a task.
  const std::uint32_t rows = task.queries.groups == 0 ? 1 : task.queries.rows / task.queries.groups;
  if (!task.single_queries && rows > 2 * kSide) entries_ = std::max<std::uint32_t>(1, kGroupEntries * kSide / rows);
  DeviceArray<std::uint32_t> counts(memory, std::size_t{lists.lists} + 1, stream, "the tasks of a batch");
  begin_ = DeviceArray<std::uint64_t>(memory, std::size_t{lists.lists} + 1, stream, "the tasks of a batch");
  task_kernel<<<blocks_for(std::size_t{lists.lists} + 1, 256), 256, 0, stream>>>(lists, task.points.group_begin,
                                                                                 entries_, counts.data());
  check_launch("tasks of a batch");
  exclusive_sums(counts.data(), begin_.data(), lists.lists, memory, stream);
  copy_to_host(begin_.data() + lists.lists, 1, &size_, stream);
}

void filter_tiles(const DeviceTask& task, const FilterData& rows, const DeviceLists& lists, const TileTasks& tasks,
                  std::uint64_t first, std::uint64_t last, const PairRule& rule, const HitTarget& target,
                  Stream stream) {
  if (first >= last) return;
  Arguments all{};
  all.points = rows.points();
  all.queries = rows.queries();
  all.point_groups = task.points.group_begin;
  all.query_groups = task.single_queries ? nullptr : task.queries.group_begin;
  all.lists = lists;
  all.task_begin = tasks.begin();
  all.first = first;
  all.last = last;
  all.entries = tasks.entries();
  all.rule = rule;
  all.target = target;
  check(cudaMemsetAsync(&target.tally->next, 0, sizeof target.tally->next, stream), "cudaMemsetAsync");
  const std::uint32_t chunk = all.points.padded == 16 ? 16 : 32;
  all.segment_chunks = all.points.padded / chunk;
  all.chunks = all.segment_chunks * (rows.split() ? 3 : 1);
  if (chunk == 16) {
    all.chunks == 1 ? launch<16, true>(all, task.single_queries, stream)
                    : launch<16, false>(all, task.single_queries, stream);
  } else {
    all.chunks == 1 ? launch<32, true>(all, task.single_queries, stream)
                    : launch<32, false>(all, task.single_queries, stream);
  }
}

}  // namespace rthiss::cuda
