#include "engine/cuda/direct_join.hpp"

#include <limits>
#include <numeric>

#include "engine/cuda/chunk_rows.hpp"
#include "engine/cuda/hierarchy.cuh"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/open_pairs.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 128;
constexpr std::uint64_t kLeastOpenRoom = std::uint64_t{1} << 16;

/// Numbers that a pass adds up.
struct Tally {
  unsigned long long comparisons, in_double, open, pairs;
};

struct Rule {
  float out, in;
  double double_in, double_out;
  bool drop_self;
};

enum class Verdict : int { kOut, kIn, kOpen };

/// `exact`: float64 or float32 values as stored.
template <typename Exact>
__device__ Verdict decide_in_double(const Exact* x, const Exact* y, std::uint32_t columns, const Rule& rule) {
  double sum = 0.0;
  for (std::uint32_t k = 0; k < columns; ++k) {
    const double difference = static_cast<double>(x[k]) - static_cast<double>(y[k]);
    sum = fma(difference, difference, sum);
  }
  if (sum <= rule.double_in) return Verdict::kIn;
  return sum > rule.double_out ? Verdict::kOut : Verdict::kOpen;
}

__device__ Verdict decide_in_double(const DeviceSet& queries, std::uint32_t q, const DeviceSet& points, std::uint32_t p,
                                    const Rule& rule) {
  const std::size_t x = std::size_t{q} * queries.exact_stride, y = std::size_t{p} * points.exact_stride;
  if (queries.exact64 != nullptr) {
    return decide_in_double(queries.exact64 + x, points.exact64 + y, queries.columns, rule);
  }
  return decide_in_double(queries.exact32 + x, points.exact32 + y, queries.columns, rule);
}

__device__ bool usable(const DeviceSet& set, std::uint32_t row) {
  return set.load_error == nullptr || set.load_error[row] < std::numeric_limits<float>::infinity();
}

/// Box of the warp's rows: lane c gets component c. Lanes without a row take no part.
__device__ DriverBox warp_box(const DeviceSet& set, std::uint32_t row, bool active, std::uint32_t components,
                              const CandidateThreshold& threshold, std::uint32_t lane) {
  DriverBox box{0.0F, 0.0F, 0.0F};
  for (std::uint32_t c = 0; c < components; ++c) {
    const float value = active ? set.coarse[std::size_t{row} * set.coarse_stride + c] : 0.0F;
    float low = active ? value : std::numeric_limits<float>::infinity();
    float high = active ? value : -std::numeric_limits<float>::infinity();
    for (int offset = 16; offset > 0; offset /= 2) {
      low = fminf(low, __shfl_xor_sync(kWholeWarp, low, offset));
      high = fmaxf(high, __shfl_xor_sync(kWholeWarp, high, offset));
    }
    if (lane == c) {
      box.low = low;
      box.high = high;
    }
  }
  float error = active ? set.coarse_error[row] : 0.0F;
  for (int offset = 16; offset > 0; offset /= 2) {
    error = fmaxf(error, __shfl_xor_sync(kWholeWarp, error, offset));
  }
  box.reach = threshold.reach(error);
  return box;
}

/// kList false: counts by row and open pairs. kList true: ids at cursor[row], open pairs left out (the host's are
/// entered before). Positions are relative to row_begin in `counts` and `cursor`.
template <bool kList>
__global__ void __launch_bounds__(kThreads)
    direct_kernel(DeviceSet queries, DeviceSet points, HierarchyView view, CandidateThreshold threshold, Rule rule,
                  std::uint32_t row_begin, std::uint32_t row_end, std::uint32_t group_begin, std::uint32_t group_end,
                  std::uint32_t* counts, unsigned long long* cursor, std::uint32_t* ids, OpenPair* open,
                  unsigned long long open_room, Tally* tally) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t warp = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::uint64_t first = row_begin + warp * 32;
  if (first >= row_end) return;
  const bool inside = first + lane < row_end;
  const auto q = static_cast<std::uint32_t>(inside ? first + lane : first);
  const bool active = inside && (queries.ignored == nullptr || queries.ignored[q] == 0);
  if (!__any_sync(kWholeWarp, active)) return;
  const DriverBox box = warp_box(queries, q, active, view.components, threshold, lane);
  const bool query_usable = usable(queries, q);
  const float* x = queries.images + std::size_t{q} * queries.image_stride;
  std::uint32_t found = 0;
  unsigned long long compared = 0, in_double = 0, left_open = 0;
  unsigned long long at = kList ? cursor[q - row_begin] : 0;
  traverse<true>(view, box, threshold, group_begin, group_end, lane, [&](std::uint32_t leaf, std::uint32_t near) {
    for (; near != 0; near &= near - 1) {
      const std::uint32_t group = leaf + static_cast<std::uint32_t>(__ffs(near) - 1);
      const std::uint32_t last = points.group_begin[group + 1];
      for (std::uint32_t p = points.group_begin[group]; p < last; ++p) {
        if (points.ignored != nullptr && points.ignored[p] != 0) continue;
        if (!active || (rule.drop_self && p == q)) continue;
        ++compared;
        Verdict verdict = Verdict::kOpen;
        if (query_usable && usable(points, p)) {
          const float* y = points.images + std::size_t{p} * points.image_stride;
          float sum = 0.0F;
          for (std::uint32_t k = 0; k < queries.columns; ++k) {
            const float difference = x[k] - y[k];
            sum = fmaf(difference, difference, sum);
          }
          if (sum > rule.out) continue;
          if (sum <= rule.in) verdict = Verdict::kIn;
        }
        if (verdict == Verdict::kOpen) {
          verdict = decide_in_double(queries, q, points, p, rule);
          ++in_double;
        }
        if (verdict == Verdict::kOut) continue;
        if (verdict == Verdict::kIn) {
          if constexpr (kList) {
            ids[at++] = points.original_id[p];
          } else {
            ++found;
          }
          continue;
        }
        ++left_open;
        --in_double;
        if constexpr (!kList) {
          const unsigned long long place = atomicAdd(&tally->open, 1ULL);
          if (place < open_room) open[place] = {q, p};
        }
      }
    }
  });
  if constexpr (!kList) {
    if (active) counts[q - row_begin] += found;
    unsigned long long pairs = found;
    for (int offset = 16; offset > 0; offset /= 2) {
      compared += __shfl_xor_sync(kWholeWarp, compared, offset);
      in_double += __shfl_xor_sync(kWholeWarp, in_double, offset);
      pairs += __shfl_xor_sync(kWholeWarp, pairs, offset);
    }
    if (lane == 0) {
      atomicAdd(&tally->comparisons, compared);
      atomicAdd(&tally->in_double, in_double);
      atomicAdd(&tally->pairs, pairs);
    }
  }
}

/// Enters the host's pairs: into the counts, or at the cursors.
__global__ void enter_kernel(const OpenPair* pairs, std::uint64_t count, std::uint32_t row_begin,
                             const std::uint32_t* point_ids, std::uint32_t* counts, unsigned long long* cursor,
                             std::uint32_t* ids) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t row = pairs[i].query - row_begin;
  if (counts != nullptr) {
    atomicAdd(&counts[row], 1U);
  } else {
    ids[atomicAdd(&cursor[row], 1ULL)] = point_ids[pairs[i].point];
  }
}

__global__ void cursor_kernel(const std::uint64_t* row_begin, const std::uint32_t* rank, std::uint32_t rows,
                              unsigned long long* cursor) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows) cursor[i] = row_begin[rank[i]];
}

__global__ void largest_kernel(const float* errors, std::uint32_t rows, std::uint32_t* largest) {
  std::uint32_t most = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint32_t bits = __float_as_uint(errors[i]);  // not negative: ordered like integers
    if (bits < 0x7F800000U && bits > most) most = bits;
  }
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(kWholeWarp, most, offset));
  if (threadIdx.x % 32 == 0) atomicMax(largest, most);
}

}  // namespace

float largest_finite(const float* errors, std::uint32_t rows, DeviceMemory& memory, Stream stream) {
  if (errors == nullptr || rows == 0) return 0.0F;
  DeviceArray<std::uint32_t> largest(memory, 1, stream, "an error bound");
  check(cudaMemsetAsync(largest.data(), 0, largest.bytes(), stream), "cudaMemsetAsync");
  largest_kernel<<<std::min(grid_for(rows, 256), 1024U), 256, 0, stream>>>(errors, rows, largest.data());
  check_launch("largest error");
  std::uint32_t bits = 0;
  copy_to_host(largest.data(), 1, &bits, stream);
  return std::bit_cast<float>(bits);
}

/// Pairs that only the host can decide; after count_open those of them that are neighbours.
struct DirectJoin::Open {
  std::vector<OpenPair> pairs;
  DeviceArray<OpenPair> on_device;
  std::uint64_t found = 0;  ///< pairs that the device found by itself
};

DirectJoin::DirectJoin(const DeviceTask& task, const Hierarchy& groups, const CandidateThreshold& threshold,
                       DeviceMemory& memory, Stream stream)
    : task_(task), groups_(groups), threshold_(threshold), memory_(memory), stream_(stream) {
  const FilterLimits filter(task.threshold, *task.space);
  const std::size_t d = task.points.columns;
  double error = static_cast<double>(largest_finite(task.points.load_error, task.points.rows, memory, stream));
  error += task.self_join
               ? error
               : static_cast<double>(largest_finite(task.queries.load_error, task.queries.rows, memory, stream));
  const double units = static_cast<double>(d) + 4.0;
  limits_.out = filter.out(error, units, filter.row_underflow(d));
  limits_.in = filter.in(error, units, filter.row_underflow(d));
  limits_.in_double = task.decider->double_limits();
  if (task.space->integers) {
    // Sums below 2^24 have no rounding, larger ones never look smaller.
    const std::optional<double> limit = task.decider->grid_limit();
    if (limit && *limit < 0x1p24) limits_.out = limits_.in = static_cast<float>(*limit);
  }
}

RefinementCounts DirectJoin::count_open(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end,
                                        std::uint32_t* counts, Open& open) {
  const Rule rule{limits_.out, limits_.in, limits_.in_double.in, limits_.in_double.out,
                  task_.self_join && !task_.include_self};
  const std::uint32_t rows = range.row_end - range.row_begin;
  DeviceArray<Tally> tally(memory_, 1, stream_, "the counters of a batch");
  Tally seen{};
  std::uint64_t room = kLeastOpenRoom;
  DeviceArray<std::uint32_t> before(memory_, rows, stream_, "the counts of a batch");
  check(cudaMemcpyAsync(before.data(), counts, before.bytes(), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
  for (;;) {
    DeviceArray<OpenPair> pairs(memory_, room, stream_, "pairs for the exact tiers");
    check(cudaMemsetAsync(tally.data(), 0, tally.bytes(), stream_), "cudaMemsetAsync");
    direct_kernel<false><<<blocks_for(rows, kThreads), kThreads, 0, stream_>>>(
        task_.queries, task_.points, view_of(groups_), threshold_, rule, range.row_begin, range.row_end, group_begin,
        group_end, counts, nullptr, nullptr, pairs.data(), room, tally.data());
    check_launch("count neighbours");
    copy_to_host(tally.data(), 1, &seen, stream_);
    if (seen.open <= room) {
      open.pairs.resize(seen.open);
      copy_to_host(pairs.data(), seen.open, open.pairs.data(), stream_);
      break;
    }
    // Once more with the room that was missing.
    room = seen.open;
    check(cudaMemcpyAsync(counts, before.data(), before.bytes(), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
  }
  RefinementCounts done;
  done.comparisons = seen.comparisons;
  done.decided.in_double = seen.in_double;
  done.decided.filter = seen.comparisons - seen.in_double - seen.open;
  open.found = seen.pairs;
  decide_open_pairs(task_, open.pairs, stream_, done.decided);
  if (!open.pairs.empty()) {
    open.on_device = copy_to_device(open.pairs.data(), open.pairs.size(), memory_, stream_, "exactly decided pairs");
    enter_kernel<<<blocks_for(open.pairs.size(), kThreads), kThreads, 0, stream_>>>(
        open.on_device.data(), open.pairs.size(), range.row_begin, nullptr, counts, nullptr, nullptr);
    check_launch("enter exact pairs");
  }
  return done;
}

RefinementCounts DirectJoin::count(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end,
                                   std::uint32_t* counts, RefinementProgress& progress) {
  if (range.row_begin == range.row_end) return {};
  Open open;
  const RefinementCounts done = count_open(range, group_begin, group_end, counts, open);
  progress.advance(range.row_end - range.row_begin, open.found + open.pairs.size());
  return done;
}

RefinementCounts DirectJoin::collect(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end,
                                     std::uint64_t pairs_limit, DeviceChunk& chunk, RefinementProgress& progress) {
  const std::uint32_t rows = range.row_end - range.row_begin;
  RowOrder order = order_rows(task_.queries.original_id + range.row_begin, rows, memory_, stream_);
  DeviceArray<std::uint32_t> counts(memory_, rows, stream_, "the counts of a batch");
  if (rows != 0) check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream_), "cudaMemsetAsync");
  Open open;
  RefinementCounts done;
  if (rows != 0) done = count_open(range, group_begin, group_end, counts.data(), open);
  const std::uint64_t pairs = open.found + open.pairs.size();
  progress.advance(rows, pairs);
  if (pairs > pairs_limit) throw MaskOverflow();
  chunk.rows = rows;
  chunk.pairs = pairs;
  chunk.row_begin = begin_rows(counts.data(), order, rows, memory_, stream_);
  DeviceArray<std::uint32_t> ids(memory_, pairs, stream_, "the neighbours of a batch");
  if (pairs != 0) {
    DeviceArray<unsigned long long> cursor(memory_, rows, stream_, "the rows of a batch");
    cursor_kernel<<<blocks_for(rows, kThreads), kThreads, 0, stream_>>>(chunk.row_begin.data(), order.rank.data(), rows,
                                                                        cursor.data());
    check_launch("place rows");
    if (!open.pairs.empty()) {
      enter_kernel<<<blocks_for(open.pairs.size(), kThreads), kThreads, 0, stream_>>>(
          open.on_device.data(), open.pairs.size(), range.row_begin, task_.points.original_id, nullptr, cursor.data(),
          ids.data());
      check_launch("enter exact pairs");
    }
    const Rule rule{limits_.out, limits_.in, limits_.in_double.in, limits_.in_double.out,
                    task_.self_join && !task_.include_self};
    direct_kernel<true><<<blocks_for(rows, kThreads), kThreads, 0, stream_>>>(
        task_.queries, task_.points, view_of(groups_), threshold_, rule, range.row_begin, range.row_end, group_begin,
        group_end, nullptr, cursor.data(), ids.data(), nullptr, 0, nullptr);
    check_launch("list neighbours");
  }
  chunk.neighbours = sort_rows(std::move(ids), chunk.row_begin.data(), rows, memory_, stream_);
  chunk.query_ids = std::move(order.query_ids);
  return done;
}

}  // namespace rthiss::cuda
