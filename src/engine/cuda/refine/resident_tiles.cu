#include "engine/cuda/refine/tile_kernels.cuh"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 128;

/// Hits of a strip of 8 queries from its sums: start + p.q of the points i * 16 + lane / 4 (+ 8) and the queries
/// column + lane % 4 * 2 (+ 1).
template <bool kSingle>
__device__ void enter_strip(const TileArguments& all, const float (&sums)[4][4], const PointTile& tile,
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

  __device__ void load(const __half* values, std::uint32_t lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i) points[i] = load_rows<kChunk>(values + 16 * i * kChunk, lane);
  }

  __device__ void strip(float (&sums)[4][4], const Fragment<kChunk>& b, const float (&start)[4][4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) multiply_chunk<kChunk>(sums[i], points[i], b, start[i]);
  }

  /// Bit s: some of the lane's pairs of strip s may be hits. `kFull`: 64 queries one after the other.
  template <bool kFull>
  __device__ std::uint32_t look(const TileArguments& all, const float (&start)[4][4], const QueryTile<kSingle>& queries,
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

  __device__ void compare(const TileArguments& all, const float (&start)[4][4], const PointTile& tile,
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

/// One warp a task: 64 points (rows of the sums) stay, blocks of queries (columns) pass by. No barriers.
template <int kChunk, bool kSingle>
__global__ void __launch_bounds__(kThreads, kChunk == 16 ? 6 : 5)
    resident_kernel(const __grid_constant__ TileArguments all) {
  const std::uint32_t lane = threadIdx.x % 32;
  HitWriter writer(all.target, all.rule, lane);
  unsigned long long compared = 0;
  for (;;) {
    std::uint64_t task = 0;
    if (lane == 0) task = all.first + atomicAdd(&all.target.tally->next, 1ULL);
    task = __shfl_sync(kWholeWarp, task, 0);
    if (task >= all.last) break;
    TaskPlace place;
    if (!find_task(all, task, place)) continue;
    const PointTile tile = tile_of(all, place);
    float starts[4][2];
    load_starts(all, tile, lane, starts);
    float start[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int v = 0; v < 4; ++v) start[i][v] = starts[i][v / 2];
    }
    ResidentTile<kChunk, kSingle> points;
    points.load(all.points.values + std::size_t{tile.first} * kChunk, lane);
    const std::uint64_t e0 = place.first_entry;
    const std::uint32_t entries = place.entries;
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
          const bool same_group = all.rule.self_join && __shfl_sync(kWholeWarp, block, e) == place.group;
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

template <int kChunk>
void launch(const TileArguments& all, bool single, Stream stream) {
  const auto kernel = single ? resident_kernel<kChunk, true> : resident_kernel<kChunk, false>;
  const std::uint64_t wanted = (all.last - all.first + kThreads / 32 - 1) / (kThreads / 32);
  kernel<<<filling_blocks(kernel, kThreads, 0, wanted), kThreads, 0, stream>>>(all);
  check_launch("filter of tiles");
}

}  // namespace

void launch_resident_tiles(const TileArguments& all, bool single, Stream stream) {
  all.points.chunk == 16 ? launch<16>(all, single, stream) : launch<32>(all, single, stream);
}

}  // namespace rthiss::cuda
