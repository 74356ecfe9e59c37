#include <limits>

#include "engine/cuda/direct_join.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/refine/hit_output.cuh"
#include "engine/cuda/refine/paper_kernel.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss::cuda {

namespace {

constexpr std::uint32_t kSide = 64;  // queries and points of a tile
constexpr std::uint32_t kGrid = 16;  // threads along each side of a tile
constexpr std::uint32_t kEach = kSide / kGrid;
constexpr std::uint32_t kDimensions = 16;  // between two looks at whether anything is left
constexpr unsigned kThreads = kGrid * kGrid;

struct Arguments {
  DeviceSet points, queries;
  DeviceLists lists;
  const std::uint32_t* order;
  float out, in;
  std::uint32_t first, words;
  std::uint64_t mask_begin;  // entry that the mask starts with
  PairRule rule;
  HitTarget target;
};

__device__ bool has_image(const DeviceSet& set, std::uint32_t row) {
  return set.load_error == nullptr || set.load_error[row] < std::numeric_limits<float>::infinity();
}

__device__ bool takes_part(const DeviceSet& set, std::uint32_t row) {
  return set.ignored == nullptr || set.ignored[row] == 0;
}

template <SharedMemory kShared, ResultMask kMask>
__global__ void __launch_bounds__(kThreads) paper_kernel(const __grid_constant__ Arguments all, void* mask) {
  constexpr bool kQueryTile = kShared == SharedMemory::kQuery || kShared == SharedMemory::kBoth;
  constexpr bool kPointTile = kShared == SharedMemory::kPrimitive || kShared == SharedMemory::kBoth;
  __shared__ float query_tile[kQueryTile ? kDimensions : 1][kSide + 1];
  __shared__ float point_tile[kPointTile ? kDimensions : 1][kSide + 1];
  __shared__ std::uint32_t query_rows[kSide];
  __shared__ unsigned long long bits[kSide];
  const std::uint32_t tx = threadIdx.x % kGrid, ty = threadIdx.x / kGrid, lane = threadIdx.x % 32;
  const std::uint32_t list = all.first + blockIdx.x;
  const std::uint32_t group = all.lists.group_ids[list];
  const std::uint32_t group_begin = all.points.group_begin[group], group_end = all.points.group_begin[group + 1];
  const std::uint64_t entry_end = all.lists.begin[list + 1];
  HitWriter writer(all.target, all.rule, lane);
  unsigned long long compared = 0;
  for (std::uint32_t p0 = group_begin; p0 < group_end; p0 += kSide) {
    const std::uint32_t points = min(group_end - p0, kSide);
    for (std::uint64_t e0 = all.lists.begin[list]; e0 < entry_end; e0 += kSide) {
      const auto queries = static_cast<std::uint32_t>(min(entry_end - e0, std::uint64_t{kSide}));
      __syncthreads();
      if (threadIdx.x < kSide) {
        query_rows[threadIdx.x] = all.lists.block_ids[e0 + min(threadIdx.x, queries - 1)];
        bits[threadIdx.x] = 0;
      }
      __syncthreads();
      float sums[kEach][kEach] = {};
      for (std::uint32_t k0 = 0; k0 < all.points.columns; k0 += kDimensions) {
        const std::uint32_t dimensions = min(all.points.columns - k0, kDimensions);
        if constexpr (kQueryTile || kPointTile) {
          __syncthreads();
          for (std::uint32_t i = threadIdx.x; i < kSide * kDimensions; i += kThreads) {
            const std::uint32_t row = i / kDimensions, k = i % kDimensions;
            if (k >= dimensions) continue;
            const std::uint32_t column = all.order[k0 + k];
            if constexpr (kQueryTile) {
              query_tile[k][row] = all.queries.images[std::size_t{query_rows[row]} * all.queries.image_stride + column];
            }
            if constexpr (kPointTile) {
              point_tile[k][row] =
                  all.points.images[std::size_t{p0 + min(row, points - 1)} * all.points.image_stride + column];
            }
          }
          __syncthreads();
        }
        for (std::uint32_t k = 0; k < dimensions; ++k) {
          const std::uint32_t column = kQueryTile && kPointTile ? 0 : all.order[k0 + k];
          float x[kEach], y[kEach];
#pragma unroll
          for (std::uint32_t i = 0; i < kEach; ++i) {
            const std::uint32_t q = ty + kGrid * i, p = tx + kGrid * i;
            if constexpr (kQueryTile) {
              x[i] = query_tile[k][q];
            } else {
              x[i] = all.queries.images[std::size_t{query_rows[q]} * all.queries.image_stride + column];
            }
            if constexpr (kPointTile) {
              y[i] = point_tile[k][p];
            } else {
              y[i] = all.points.images[std::size_t{p0 + min(p, points - 1)} * all.points.image_stride + column];
            }
          }
#pragma unroll
          for (std::uint32_t i = 0; i < kEach; ++i) {
#pragma unroll
            for (std::uint32_t j = 0; j < kEach; ++j) {
              const float difference = x[i] - y[j];
              sums[i][j] = fmaf(difference, difference, sums[i][j]);
            }
          }
        }
        bool left = false;
#pragma unroll
        for (std::uint32_t i = 0; i < kEach; ++i) {
#pragma unroll
          for (std::uint32_t j = 0; j < kEach; ++j) left |= !(sums[i][j] > all.out);
        }
        // Sums never fall; rows without an image are all zeros, and their sums tell nothing.
        if (__syncthreads_or(left ? 1 : 0) == 0 && all.points.load_error == nullptr &&
            all.queries.load_error == nullptr) {
          break;
        }
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kEach; ++i) {
        const std::uint32_t q = ty + kGrid * i;
        const std::uint32_t query = query_rows[q];
        const bool active = q < queries && takes_part(all.queries, query);
        std::uint32_t maybe = 0, sure = 0;
#pragma unroll
        for (std::uint32_t j = 0; j < kEach; ++j) {
          const std::uint32_t p = tx + kGrid * j, point = p0 + min(p, points - 1);
          if (!active || p >= points || !takes_part(all.points, point)) continue;
          ++compared;
          if (all.rule.self_join && point == query && !all.rule.include_self) continue;
          const bool filtered = has_image(all.queries, query) && has_image(all.points, point);
          if (filtered && sums[i][j] > all.out) continue;
          maybe |= 1U << j;
          if (filtered && sums[i][j] <= all.in) sure |= 1U << j;
        }
        const PointColumn column{query, p0 + tx};
        writer.enter_open(maybe & ~sure, column);
        if constexpr (kMask == ResultMask::kPairs) {
          writer.enter_hits(sure, column);
        } else if constexpr (kMask == ResultMask::kPlain) {
          if (q < queries) {
            auto* const row = static_cast<std::uint8_t*>(mask) +
                              ((e0 + q - all.mask_begin) * all.words + (p0 - group_begin) / kSide) * kSide;
#pragma unroll
            for (std::uint32_t j = 0; j < kEach; ++j) row[tx + kGrid * j] = static_cast<std::uint8_t>(sure >> j & 1U);
          }
        } else if (sure != 0) {
          unsigned long long word = 0;
#pragma unroll
          for (std::uint32_t j = 0; j < kEach; ++j) word |= (sure >> j & 1ULL) << (tx + kGrid * j);
          atomicOr(&bits[q], word);
        }
      }
      if constexpr (kMask == ResultMask::kCompressed) {
        __syncthreads();
        if (threadIdx.x < queries) {
          static_cast<unsigned long long*>(
              mask)[(e0 + threadIdx.x - all.mask_begin) * all.words + (p0 - group_begin) / kSide] = bits[threadIdx.x];
        }
      }
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
  const std::uint32_t used = (group_end - group_begin + kSide - 1) / kSide;
  const std::uint64_t entry_begin = all.lists.begin[list], words = (all.lists.begin[list + 1] - entry_begin) * used;
  HitWriter writer(all.target, all.rule, lane);
  // Whole warps stay together.
  for (std::uint64_t i = threadIdx.x; i - lane < words; i += kThreads) {
    const bool inside = i < words;
    const std::uint64_t entry = entry_begin + (inside ? i : words - 1) / used;
    const auto part = static_cast<std::uint32_t>((inside ? i : words - 1) % used);
    const std::uint64_t place = (entry - all.mask_begin) * all.words + part;
    unsigned long long word = 0;
    if constexpr (kMask == ResultMask::kPlain) {
      const auto* bytes = static_cast<const std::uint8_t*>(mask) + place * kSide;
      const std::uint32_t points = min(group_end - group_begin - part * kSide, kSide);
      for (std::uint32_t j = 0; j < points; ++j) word |= static_cast<unsigned long long>(bytes[j]) << j;
    } else {
      word = static_cast<const unsigned long long*>(mask)[place];
    }
    writer.enter_word(inside ? word : 0, all.lists.block_ids[entry], group_begin + part * kSide);
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
  order_ = copy_to_device(task.projection->order.data(), d, memory, stream, "the order of the columns");
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
  words_ = std::max<std::uint32_t>(1, (rows + kSide - 1) / kSide);
}

void PaperRefinement::run(const DeviceLists& lists, const std::vector<std::uint64_t>& list_begin, std::uint32_t first,
                          std::uint32_t last, const PairRule& rule, const HitTarget& target, DeviceMemory& memory,
                          Stream stream) const {
  if (first >= last) return;
  const Arguments all{task_.points, task_.queries,     lists, order_.data(), out_, in_, first,
                      words_,       list_begin[first], rule,  target};
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
