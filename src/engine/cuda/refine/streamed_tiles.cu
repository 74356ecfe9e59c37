#include <algorithm>

#include "engine/cuda/refine/tile_kernels.cuh"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 128;
constexpr std::uint32_t kWarps = kThreads / 32;
// Two blocks share a multiprocessor.
constexpr std::size_t kMostShared = 100 * 1024;

/// Chunks of point and query of chunk `c` of a dot product. Split rows take three segments: hi.hi, hi.lo and lo.hi.
__device__ void chunks_of(const TileArguments& all, std::uint32_t c, std::uint32_t& point, std::uint32_t& query) {
  const std::uint32_t segment = c / all.segment_chunks, within = c % all.segment_chunks;
  point = within + (segment == 2 ? all.segment_chunks : 0);
  query = within + (segment == 1 ? all.segment_chunks : 0);
}

/// A warp's next queries: 8 kStrips rows.
template <int kStrips, bool kSingle>
struct QueryStep {
  QueryTile<kSingle> tile;
  bool same_group;
  std::uint32_t rows[kSingle ? kStrips : 1];
  float limits[kStrips / 4];  // of the queries lane and lane + 32

  __device__ void prepare(const TileArguments& all, std::uint32_t lane) {
    if constexpr (kSingle) {
#pragma unroll
      for (std::uint32_t s = 0; s < kStrips; ++s) rows[s] = tile(8 * s + lane / 4);
    } else {
      rows[0] = tile.first + lane / 4;
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kStrips / 4; ++i) {
      const std::uint32_t column = 32 * i + lane;
      limits[i] = column < tile.count ? __ldg(all.queries.limit_out + tile(column)) : kFilterNever;
    }
  }

  template <int kChunk>
  __device__ void load(const __half* plane, std::uint32_t lane, Fragment<kChunk> (&out)[kStrips]) const {
    if constexpr (kSingle) {
#pragma unroll
      for (int s = 0; s < kStrips; ++s) out[s] = load_fragment<kChunk>(plane + std::size_t{rows[s]} * kChunk, lane);
    } else {
      // Rows beyond the tile are read as well; their limits reject them.
      const __half* const first = plane + std::size_t{rows[0]} * kChunk;
#pragma unroll
      for (int s = 0; s < kStrips; ++s) out[s] = load_fragment<kChunk>(first + 8 * s * kChunk, lane);
    }
  }
};

/// The queries of a warp, one step after the other: those of every fourth entry, or every fourth of single ones.
template <int kStrips, bool kSingle>
class QuerySteps {
 public:
  using Step = QueryStep<kStrips, kSingle>;

  __device__ QuerySteps(const TileArguments& all, const TaskPlace& place, std::uint32_t warp, std::uint32_t lane)
      : all_(all), place_(place), lane_(lane), entry_(warp) {
    if constexpr (!kSingle) {
      // Lane l knows the block of entry warp + 4 l.
      const std::uint32_t block =
          __ldg(all.lists.block_ids + place.first_entry + min(warp + kWarps * lane, place.entries - 1));
      begin_ = __ldg(all.query_groups + block);
      end_ = __ldg(all.query_groups + block + 1);
      same_ = block == place.group ? 1 : 0;
      fetch();
    }
  }

  __device__ bool next(Step& step) {
    if constexpr (kSingle) {
      const std::uint32_t first = entry_ * 8 * kStrips;
      if (first >= place_.entries) return false;
      step.tile = {all_.lists.block_ids + place_.first_entry + first, 0, min(place_.entries - first, 8U * kStrips)};
      step.same_group = all_.rule.self_join;
      entry_ += kWarps;
    } else {
      while (query_ >= query_end_) {
        if (entry_ >= place_.entries) return false;
        fetch();
      }
      step.tile = {nullptr, query_, min(query_end_ - query_, 8U * kStrips)};
      step.same_group = all_.rule.self_join && query_same_ != 0;
      query_ += 8 * kStrips;
    }
    step.prepare(all_, lane_);
    return true;
  }

 private:
  __device__ void fetch() {
    if (entry_ >= place_.entries) return;
    const std::uint32_t lane = entry_ / kWarps;
    query_ = __shfl_sync(kWholeWarp, begin_, lane);
    query_end_ = __shfl_sync(kWholeWarp, end_, lane);
    query_same_ = __shfl_sync(kWholeWarp, same_, lane);
    entry_ += kWarps;
  }

  const TileArguments& all_;
  const TaskPlace& place_;
  std::uint32_t lane_, entry_;
  std::uint32_t begin_ = 0, end_ = 0, same_ = 0;
  std::uint32_t query_ = 0, query_end_ = 0, query_same_ = 0;
};

/// Hits of a step from its sums.
template <int kStrips, bool kSingle>
__device__ void enter_step(const TileArguments& all, const float (&sums)[kStrips][4][4], const PointTile& tile,
                           const QueryStep<kStrips, kSingle>& step, std::uint32_t lane, HitWriter& writer) {
  std::uint32_t seen = 0;
#pragma unroll
  for (int s = 0; s < kStrips; ++s) {
    bool any = false;
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const float limit = __shfl_sync(kWholeWarp, step.limits[s / 4], s % 4 * 8 + lane % 4 * 2 + v);
#pragma unroll
      for (int i = 0; i < 4; ++i) any |= sums[s][i][v] >= limit || sums[s][i][v + 2] >= limit;
    }
    seen |= any ? 1U << s : 0U;
  }
  seen = warp_or(seen);
  if (seen == 0) return;
  float shift[4][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      shift[i][v] = __ldg(all.points.shift + tile.first + min(i * 16 + v * 8 + lane / 4, tile.count - 1));
    }
  }
  // Bit 4 i + v as for HitWriter; hits that are certain in the upper half.
  std::uint32_t found[kStrips];
#pragma unroll
  for (int s = 0; s < kStrips; ++s) {
    found[s] = 0;
    if ((seen >> s & 1U) == 0) continue;
    float limit[2], certain[2];
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      limit[v] = __shfl_sync(kWholeWarp, step.limits[s / 4], s % 4 * 8 + lane % 4 * 2 + v);
      certain[v] = __ldg(all.queries.limit_in + step.tile(8 * s + lane % 4 * 2 + v));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const bool maybe = sums[s][i][v] >= limit[v % 2];
        if (maybe) found[s] |= 1U << (4 * i + v);
        if (maybe && sums[s][i][v] >= __fadd_ru(certain[v % 2], shift[i][v / 2])) found[s] |= 1U << (16 + 4 * i + v);
      }
    }
  }
#pragma unroll 1
  for (; seen != 0; seen &= seen - 1) {
    const auto s = static_cast<std::uint32_t>(__ffs(seen) - 1);
    std::uint32_t bits = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kStrips; ++i) bits = i == s ? found[i] : bits;
    const std::uint32_t column = 8 * s + lane % 4 * 2;
    const std::uint32_t queries[2] = {step.tile(column), step.tile(column + 1)};
    writer.enter(bits & 0xFFFFU, bits >> 16, queries, tile.first + lane / 4, step.same_group);
  }
}

/// A block of threads a task: its points wait in shared memory (`kShared`), each warp has its own queries, of which the
/// next chunk is always on its way. Sums of 64 points and 8 kStrips queries are in a warp's registers.
template <int kChunk, int kStrips, bool kSingle, bool kShared>
__global__ void __launch_bounds__(kThreads, 2) streamed_kernel(const __grid_constant__ TileArguments all) {
  extern __shared__ uint4 point_values[];  // [chunks of a row x 64 rows x kChunk numbers]
  __shared__ std::uint64_t next_task;
  constexpr std::uint32_t kPieces = kChunk / 8;  // of 16 bytes in a chunk of a row
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  HitWriter writer(all.target, all.rule, lane);
  unsigned long long compared = 0;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) next_task = all.first + atomicAdd(&all.target.tally->next, 1ULL);
    __syncthreads();
    const std::uint64_t task = next_task;
    if (task >= all.last) break;
    TaskPlace place;
    if (!find_task(all, task, place)) continue;
    const PointTile tile = tile_of(all, place);
    const __half* const points = all.points.values + std::size_t{tile.first} * kChunk;
    if constexpr (kShared) {
      const std::uint32_t planes = all.chunks == all.segment_chunks ? all.segment_chunks : 2 * all.segment_chunks;
      for (std::uint32_t i = threadIdx.x; i < planes * kSide * kPieces; i += kThreads) {
        const std::uint32_t plane = i / (kSide * kPieces), piece = i % (kSide * kPieces);
        point_values[i] = __ldg(reinterpret_cast<const uint4*>(points + plane * all.points.plane) + piece);
      }
      __syncthreads();
    }
    float start[4][2];
    load_starts(all, tile, lane, start);
    QuerySteps<kStrips, kSingle> steps(all, place, warp, lane);
    QueryStep<kStrips, kSingle> step;
    if (!steps.next(step)) continue;
    Fragment<kChunk> ahead[kStrips];
    step.load(all.queries.values, lane, ahead);
    for (bool more = true; more;) {
      const QueryStep<kStrips, kSingle> now = step;
      more = steps.next(step);
      float sums[kStrips][4][4];
#pragma unroll
      for (int s = 0; s < kStrips; ++s) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int v = 0; v < 4; ++v) sums[s][i][v] = start[i][v / 2];
        }
      }
#pragma unroll 1
      for (std::uint32_t c = 0; c < all.chunks; ++c) {
        std::uint32_t point_chunk, query_chunk, unused;
        chunks_of(all, c, point_chunk, unused);
        Fragment<kChunk> b[kStrips];
#pragma unroll
        for (int s = 0; s < kStrips; ++s) b[s] = ahead[s];
        if (c + 1 < all.chunks) {
          chunks_of(all, c + 1, unused, query_chunk);
          now.load(all.queries.values + query_chunk * all.queries.plane, lane, ahead);
        } else if (more) {
          step.load(all.queries.values, lane, ahead);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          RowPair<kChunk> a;
          if constexpr (kShared) {
            const auto* const rows = reinterpret_cast<const __half*>(point_values) + point_chunk * kSide * kChunk;
            a = load_rows<kChunk, true>(rows + 16 * i * kChunk, lane);
          } else {
            a = load_rows<kChunk>(points + point_chunk * all.points.plane + 16 * i * kChunk, lane);
          }
#pragma unroll
          for (int s = 0; s < kStrips; ++s) multiply_chunk<kChunk>(sums[s][i], a, b[s], sums[s][i]);
        }
      }
      if (lane == 0) compared += std::uint64_t{tile.count} * now.tile.count;
      enter_step(all, sums, tile, now, lane, writer);
    }
  }
  writer.finish(compared);
}

template <int kChunk, int kStrips, bool kSingle, bool kShared>
void launch(const TileArguments& all, std::size_t shared, Stream stream) {
  const auto kernel = streamed_kernel<kChunk, kStrips, kSingle, kShared>;
  if (shared != 0) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          "cudaFuncSetAttribute");
  }
  kernel<<<filling_blocks(kernel, kThreads, shared, all.last - all.first), kThreads, shared, stream>>>(all);
  check_launch("filter of long tiles");
}

template <int kChunk>
void launch(const TileArguments& all, bool single, Stream stream) {
  int device = 0, most = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  const std::size_t planes = all.chunks == all.segment_chunks ? all.segment_chunks : 2 * all.segment_chunks;
  const std::size_t shared = planes * kSide * kChunk * sizeof(__half);
  // Next to a small static part.
  const bool fits = shared <= std::min(kMostShared, static_cast<std::size_t>(most) - 1024);
  if (single) {
    fits ? launch<kChunk, 4, true, true>(all, shared, stream) : launch<kChunk, 4, true, false>(all, 0, stream);
  } else {
    fits ? launch<kChunk, 8, false, true>(all, shared, stream) : launch<kChunk, 8, false, false>(all, 0, stream);
  }
}

}  // namespace

void launch_streamed_tiles(const TileArguments& all, bool single, Stream stream) {
  all.points.chunk == 16 ? launch<16>(all, single, stream) : launch<32>(all, single, stream);
}

}  // namespace rthiss::cuda
