#include <limits>

#include "engine/cuda/direct_join.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/refine/hit_output.cuh"
#include "engine/cuda/refine/paper_kernel.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss::cuda {

namespace {

constexpr std::uint32_t kQueries = 128;  // of a tile: four a lane
constexpr std::uint32_t kEachQuery = kQueries / 32;
constexpr std::uint32_t kEachPoint = 8;  // points of a warp
constexpr std::uint32_t kPoints = 64;    // of a tile, and of a word of the mask
constexpr std::uint32_t kWarps = kPoints / kEachPoint;
constexpr unsigned kThreads = kWarps * 32;
constexpr std::uint32_t kDimensions = 32;  // of a tile
constexpr std::uint32_t kLook = 8;         // dimensions between two looks at whether anything is left
constexpr unsigned kRowThreads = 256;

struct Arguments {
  DeviceSet points, queries;
  const float *point_rows, *query_rows;  // [rows x stride], columns in the order of the sums, padded with zeros
  DeviceLists lists;
  float out, in;
  std::uint32_t stride;
  std::uint32_t first, words;
  std::uint64_t mask_begin;  // entry that the mask starts with
  PairRule rule;
  HitTarget target;
};

__device__ bool takes_part(const DeviceSet& set, std::uint32_t row) {
  return set.ignored == nullptr || set.ignored[row] == 0;
}

/// Rows with their columns in the order of the sums. One without an image becomes NaN, so that no sum of its pairs
/// decides anything.
__global__ void order_kernel(DeviceSet set, const std::uint32_t* order, std::uint32_t stride, float* rows) {
  const std::size_t values = std::size_t{set.rows} * stride;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < values;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const std::size_t row = i / stride;
    const auto k = static_cast<std::uint32_t>(i % stride);
    const bool has_image = set.load_error == nullptr || set.load_error[row] < std::numeric_limits<float>::infinity();
    float value = k < set.columns ? set.images[row * set.image_stride + order[k]] : 0.0F;
    if (!has_image) value = std::numeric_limits<float>::quiet_NaN();
    rows[i] = value;
  }
}

/// Stores four dimensions of a row in a tile of dimensions.
template <std::uint32_t kRows>
__device__ void store_column(float (*tile)[kRows], std::uint32_t k, std::uint32_t row, const float* values) {
  const float4 four = __ldg(reinterpret_cast<const float4*>(values + k));
  tile[k][row] = four.x;
  tile[k + 1][row] = four.y;
  tile[k + 2][row] = four.z;
  tile[k + 3][row] = four.w;
}

/// A warp's sums: 128 queries, four a lane, and 8 points.
struct Sums {
  float values[kEachQuery][kEachPoint];

  __device__ void add(const float (&x)[kEachQuery], const float (&y)[kEachPoint]) {
#pragma unroll
    for (std::uint32_t i = 0; i < kEachQuery; ++i) {
#pragma unroll
      for (std::uint32_t j = 0; j < kEachPoint; ++j) {
        const float difference = x[i] - y[j];
        values[i][j] = fmaf(difference, difference, values[i][j]);
      }
    }
  }

  [[nodiscard]] __device__ bool any_left(float out) const {
    bool left = false;
#pragma unroll
    for (std::uint32_t i = 0; i < kEachQuery; ++i) {
#pragma unroll
      for (std::uint32_t j = 0; j < kEachPoint; ++j) left |= !(values[i][j] > out);
    }
    return __any_sync(kWholeWarp, left) != 0;
  }
};

template <SharedMemory kShared, ResultMask kMask>
__global__ void __launch_bounds__(kThreads, 3) paper_kernel(const __grid_constant__ Arguments all, void* mask) {
  constexpr bool kQueryTile = kShared == SharedMemory::kQuery || kShared == SharedMemory::kBoth;
  constexpr bool kPointTile = kShared == SharedMemory::kPrimitive || kShared == SharedMemory::kBoth;
  __shared__ __align__(16) float query_tile[kQueryTile ? kDimensions : 1][kQueries];
  __shared__ __align__(16) float point_tile[kPointTile ? kDimensions : 1][kPoints];
  __shared__ std::uint32_t query_rows[kQueries];
  __shared__ union {
    unsigned long long words[kQueries];
    std::uint8_t bytes[kQueries][kWarps];  // of a query, the bits of a warp's points
  } bits;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t list = all.first + blockIdx.x;
  const std::uint32_t group = all.lists.group_ids[list];
  const std::uint32_t group_begin = all.points.group_begin[group], group_end = all.points.group_begin[group + 1];
  const std::uint64_t entry_begin = all.lists.begin[list], entry_end = all.lists.begin[list + 1];
  const bool point_tile_stays = all.stride <= kDimensions;
  HitWriter writer(all.target, all.rule, lane);
  unsigned long long compared = 0;
  for (std::uint32_t p0 = group_begin; p0 < group_end; p0 += kPoints) {
    const std::uint32_t points = min(group_end - p0, kPoints);
    const std::uint32_t own = p0 + min(threadIdx.x, points - 1);
    const int points_used = __syncthreads_count(threadIdx.x < points && takes_part(all.points, own) ? 1 : 0);
    // Points of this warp; the ones beyond the end repeat the last.
    const std::uint32_t first_point = p0 + warp * kEachPoint;
    const std::uint32_t warp_points = first_point < p0 + points ? min(p0 + points - first_point, kEachPoint) : 0;
    for (std::uint64_t e0 = entry_begin; e0 < entry_end; e0 += kQueries) {
      const auto queries = static_cast<std::uint32_t>(min(entry_end - e0, std::uint64_t{kQueries}));
      bool query_used = false;
      if (threadIdx.x < kQueries) {
        const std::uint32_t query = all.lists.block_ids[e0 + min(threadIdx.x, queries - 1)];
        query_rows[threadIdx.x] = query;
        bits.words[threadIdx.x] = 0;
        query_used = threadIdx.x < queries && takes_part(all.queries, query);
      }
      const int queries_used = __syncthreads_count(query_used ? 1 : 0);
      if (threadIdx.x == 0) compared += static_cast<unsigned long long>(queries_used) * points_used;
      Sums sums = {};
      bool left = warp_points != 0;
      for (std::uint32_t k0 = 0; k0 < all.stride; k0 += kDimensions) {
        const std::uint32_t dimensions = min(all.stride - k0, kDimensions);
        if constexpr (kQueryTile || kPointTile) {
          // What the last chunk read may be overwritten; where no warp has anything left, the rest is not needed.
          if (k0 != 0 && __syncthreads_or(left ? 1 : 0) == 0) break;
          if constexpr (kQueryTile) {
            const std::uint32_t row = threadIdx.x % kQueries;
            const float* values = all.query_rows + std::size_t{query_rows[row]} * all.stride + k0;
            for (std::uint32_t k = threadIdx.x / kQueries * 4; k < dimensions; k += kThreads / kQueries * 4) {
              store_column(query_tile, k, row, values);
            }
          }
          if (kPointTile && !(point_tile_stays && e0 != entry_begin)) {
            const std::uint32_t row = threadIdx.x % kPoints;
            const float* values = all.point_rows + std::size_t{p0 + min(row, points - 1)} * all.stride + k0;
            for (std::uint32_t k = threadIdx.x / kPoints * 4; k < dimensions; k += kThreads / kPoints * 4) {
              store_column(point_tile, k, row, values);
            }
          }
          __syncthreads();
        }
        for (std::uint32_t k = 0; left && k < dimensions;) {
          const std::uint32_t look = min(k + kLook, dimensions);
#pragma unroll 4
          for (; k < look; ++k) {
            float x[kEachQuery], y[kEachPoint];
            if constexpr (kQueryTile) {
              *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(&query_tile[k][lane * kEachQuery]);
            } else {
#pragma unroll
              for (std::uint32_t i = 0; i < kEachQuery; ++i) {
                x[i] = all.query_rows[std::size_t{query_rows[lane * kEachQuery + i]} * all.stride + k0 + k];
              }
            }
            if constexpr (kPointTile) {
              const float* column = &point_tile[k][warp * kEachPoint];
              *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(column);
              *reinterpret_cast<float4*>(y + 4) = *reinterpret_cast<const float4*>(column + 4);
            } else {
#pragma unroll
              for (std::uint32_t j = 0; j < kEachPoint; ++j) {
                const std::uint32_t point = first_point + min(j, warp_points - 1);
                y[j] = all.point_rows[std::size_t{point} * all.stride + k0 + k];
              }
            }
            sums.add(x, y);
          }
          left = sums.any_left(all.out);  // sums never fall
        }
      }
      if (left) {
#pragma unroll
        for (std::uint32_t i = 0; i < kEachQuery; ++i) {
          const std::uint32_t q = lane * kEachQuery + i;
          const std::uint32_t query = query_rows[q];
          const bool active = q < queries && takes_part(all.queries, query);
          std::uint32_t maybe = 0, sure = 0;
#pragma unroll
          for (std::uint32_t j = 0; j < kEachPoint; ++j) {
            if (!active || j >= warp_points || sums.values[i][j] > all.out) continue;
            const std::uint32_t point = first_point + j;
            if (!takes_part(all.points, point)) continue;
            if (all.rule.self_join && point == query && !all.rule.include_self) continue;
            maybe |= 1U << j;
            if (sums.values[i][j] <= all.in) sure |= 1U << j;
          }
          const PointColumn column{query, first_point};
          writer.enter_open(maybe & ~sure, column);
          if constexpr (kMask == ResultMask::kPairs) {
            writer.enter_hits(sure, column);
          } else if (sure != 0) {
            bits.bytes[q][warp] = static_cast<std::uint8_t>(sure);
          }
        }
      }
      __syncthreads();
      if constexpr (kMask == ResultMask::kCompressed) {
        if (threadIdx.x < queries) {
          static_cast<unsigned long long*>(
              mask)[(e0 + threadIdx.x - all.mask_begin) * all.words + (p0 - group_begin) / kPoints] =
              bits.words[threadIdx.x];
        }
      } else if constexpr (kMask == ResultMask::kPlain) {
        for (std::uint32_t q = warp; q < queries; q += kWarps) {
          auto* const row = static_cast<std::uint8_t*>(mask) +
                            ((e0 + q - all.mask_begin) * all.words + (p0 - group_begin) / kPoints) * kPoints;
          row[lane] = static_cast<std::uint8_t>(bits.words[q] >> lane & 1U);
          row[lane + 32] = static_cast<std::uint8_t>(bits.words[q] >> (lane + 32) & 1U);
        }
      }
      __syncthreads();
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) compared += __shfl_xor_sync(kWholeWarp, compared, offset);
  writer.finish(compared);
}

/// One thread block a list: the set bits of the mask become pairs and counts.
template <ResultMask kMask>
__global__ void __launch_bounds__(kThreads) compact_kernel(const __grid_constant__ Arguments all, const void* mask) {
  const std::uint32_t list = all.first + blockIdx.x, lane = threadIdx.x % 32;
  const std::uint32_t group = all.lists.group_ids[list];
  const std::uint32_t group_begin = all.points.group_begin[group], group_end = all.points.group_begin[group + 1];
  const std::uint32_t used = (group_end - group_begin + kPoints - 1) / kPoints;
  const std::uint64_t entry_begin = all.lists.begin[list], entries = all.lists.begin[list + 1] - entry_begin;
  HitWriter writer(all.target, all.rule, lane);
  // Whole warps stay together.
  for (std::uint64_t i = threadIdx.x; i - lane < entries; i += kThreads) {
    const std::uint64_t entry = entry_begin + (i < entries ? i : entries - 1);
    for (std::uint32_t part = 0; part < used; ++part) {
      const std::uint64_t place = (entry - all.mask_begin) * all.words + part;
      unsigned long long word = 0;
      if constexpr (kMask == ResultMask::kPlain) {
        const auto* bytes = static_cast<const unsigned long long*>(mask) + place * kWarps;
        // Eight bytes of 0 or 1 at a time: the product gathers them in the highest one.
        for (std::uint32_t b = 0; b < kWarps; ++b) word |= bytes[b] * 0x0102040810204080ULL >> 56 << (8 * b);
      } else {
        word = static_cast<const unsigned long long*>(mask)[place];
      }
      if (i >= entries) word = 0;
      if (!__any_sync(kWholeWarp, word != 0)) continue;
      writer.enter_word(word, all.lists.block_ids[entry], group_begin + part * kPoints);
    }
  }
  writer.finish(0);
}

template <SharedMemory kShared, ResultMask kMask>
void launch(const Arguments& all, std::uint32_t lists, std::uint64_t entries, DeviceMemory& memory, Stream stream) {
  const std::size_t bytes =
      kMask == ResultMask::kPairs ? 0 : entries * all.words * (kMask == ResultMask::kPlain ? 64 : 8);
  DeviceArray<std::uint8_t> mask(memory, bytes, stream, "the mask of a batch");
  paper_kernel<kShared, kMask><<<lists, kThreads, 0, stream>>>(all, mask.data());
  check_launch("refinement of the paper");
  if constexpr (kMask != ResultMask::kPairs) {
    compact_kernel<kMask><<<lists, kThreads, 0, stream>>>(all, mask.data());
    check_launch("compaction of the mask");
  }
}

template <SharedMemory kShared>
void launch(ResultMask mask, const Arguments& all, std::uint32_t lists, std::uint64_t entries, DeviceMemory& memory,
            Stream stream) {
  switch (mask) {
    case ResultMask::kCompressed:
      return launch<kShared, ResultMask::kCompressed>(all, lists, entries, memory, stream);
    case ResultMask::kPlain:
      return launch<kShared, ResultMask::kPlain>(all, lists, entries, memory, stream);
    case ResultMask::kPairs:
      return launch<kShared, ResultMask::kPairs>(all, lists, entries, memory, stream);
  }
}

__global__ void largest_group_kernel(const std::uint32_t* group_begin, std::uint32_t groups, std::uint32_t* largest) {
  const std::uint32_t group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group < groups) atomicMax(largest, group_begin[group + 1] - group_begin[group]);
}

}  // namespace

PaperRefinement::PaperRefinement(const DeviceTask& task, DeviceMemory& memory, Stream stream) : task_(task) {
  const std::size_t d = task.points.columns;
  stride_ = static_cast<std::uint32_t>((d + 3) / 4 * 4);
  const DeviceArray<std::uint32_t> order =
      copy_to_device(task.projection->order.data(), d, memory, stream, "the order of the columns");
  const auto ordered = [&](const DeviceSet& set) {
    DeviceArray<float> rows(memory, std::size_t{set.rows} * stride_, stream, "the rows in the order of the columns");
    if (set.rows != 0) {
      order_kernel<<<grid_for(rows.size(), kRowThreads), kRowThreads, 0, stream>>>(set, order.data(), stride_,
                                                                                   rows.data());
      check_launch("order of the columns");
    }
    return rows;
  };
  point_rows_ = ordered(task.points);
  if (!task.self_join) query_rows_ = ordered(task.queries);
  const FilterLimits filter(task.threshold, *task.space);
  double error = static_cast<double>(largest_finite(task.points.load_error, task.points.rows, memory, stream));
  error += static_cast<double>(largest_finite(task.queries.load_error, task.queries.rows, memory, stream));
  const double units = static_cast<double>(d) + 4.0;
  out_ = filter.out(error, units, filter.row_underflow(d));
  in_ = filter.in(error, units, filter.row_underflow(d));
  if (task.space->integers) {
    // Sums below 2^24 have no rounding, larger ones never look smaller.
    const std::optional<double> limit = task.decider->grid_limit();
    if (limit && *limit < 0x1p24) out_ = in_ = static_cast<float>(*limit);
  }
  DeviceArray<std::uint32_t> largest(memory, 1, stream, "the largest group");
  check(cudaMemsetAsync(largest.data(), 0, largest.bytes(), stream), "cudaMemsetAsync");
  if (task.points.groups != 0) {
    largest_group_kernel<<<blocks_for(task.points.groups, kThreads), kThreads, 0, stream>>>(
        task.points.group_begin, task.points.groups, largest.data());
    check_launch("largest group");
  }
  std::uint32_t rows = 0;
  copy_to_host(largest.data(), 1, &rows, stream);
  words_ = std::max<std::uint32_t>(1, (rows + kPoints - 1) / kPoints);
}

void PaperRefinement::run(const DeviceLists& lists, const std::vector<std::uint64_t>& list_begin, std::uint32_t first,
                          std::uint32_t last, const PairRule& rule, const HitTarget& target, DeviceMemory& memory,
                          Stream stream) const {
  if (first >= last) return;
  Arguments all{};
  all.points = task_.points;
  all.queries = task_.queries;
  all.point_rows = point_rows_.data();
  all.query_rows = task_.self_join ? point_rows_.data() : query_rows_.data();
  all.lists = lists;
  all.out = out_;
  all.in = in_;
  all.stride = stride_;
  all.first = first;
  all.words = words_;
  all.mask_begin = list_begin[first];
  all.rule = rule;
  all.target = target;
  const std::uint64_t entries = list_begin[last] - list_begin[first];
  switch (task_.shared_memory) {
    case SharedMemory::kNone:
      return launch<SharedMemory::kNone>(task_.mask, all, last - first, entries, memory, stream);
    case SharedMemory::kQuery:
      return launch<SharedMemory::kQuery>(task_.mask, all, last - first, entries, memory, stream);
    case SharedMemory::kPrimitive:
      return launch<SharedMemory::kPrimitive>(task_.mask, all, last - first, entries, memory, stream);
    case SharedMemory::kBoth:
      return launch<SharedMemory::kBoth>(task_.mask, all, last - first, entries, memory, stream);
  }
}

}  // namespace rthiss::cuda
