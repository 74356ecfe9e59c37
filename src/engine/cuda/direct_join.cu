#include "engine/cuda/direct_join.hpp"

#include <limits>
#include <numeric>
#include <string>

#include "engine/cuda/chunk_rows.hpp"
#include "engine/cuda/direct_pair.cuh"
#include "engine/cuda/hierarchy.cuh"
#include "engine/cuda/launch.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 128;
constexpr std::uint64_t kLeastOpenRoom = std::uint64_t{1} << 16;

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

/// One lane a query, one warp for 32 neighbouring queries.
__global__ void __launch_bounds__(kThreads)
    direct_kernel(DirectPass pass, HierarchyView view, CandidateThreshold threshold) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t warp = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::uint64_t first = pass.row_begin + warp * 32;
  if (first >= pass.row_end) return;
  const bool inside = first + lane < pass.row_end;
  const auto q = static_cast<std::uint32_t>(inside ? first + lane : first);
  const bool active = inside && (pass.queries.ignored == nullptr || pass.queries.ignored[q] == 0);
  if (!__any_sync(kWholeWarp, active)) return;
  const DriverBox box = warp_box(pass.queries, q, active, view.components, threshold, lane);
  const bool query_usable = usable(pass.queries, q);
  const std::uint32_t row = q - pass.row_begin;
  DirectFound found;
  unsigned long long at = pass.lists() ? pass.cursor[row] : 0;
  traverse<true>(view, box, threshold, pass.group_begin, pass.group_end, lane,
                 [&](std::uint32_t leaf, std::uint32_t near) {
                   for (; near != 0; near &= near - 1) {
                     const std::uint32_t group = leaf + static_cast<std::uint32_t>(__ffs(near) - 1);
                     const std::uint32_t last = pass.points.group_begin[group + 1];
                     for (std::uint32_t p = pass.points.group_begin[group]; active && p < last; ++p) {
                       meet(pass, q, p, query_usable, at, found);
                     }
                   }
                 });
  if (pass.lists()) {
    if (active) pass.cursor[row] = at;
    return;
  }
  if (active) pass.counts[row] += found.pairs;
  unsigned long long compared = found.compared, in_double = found.in_double, pairs = found.pairs;
  for (int offset = 16; offset > 0; offset /= 2) {
    compared += __shfl_xor_sync(kWholeWarp, compared, offset);
    in_double += __shfl_xor_sync(kWholeWarp, in_double, offset);
    pairs += __shfl_xor_sync(kWholeWarp, pairs, offset);
  }
  if (lane == 0) {
    atomicAdd(&pass.tally->comparisons, compared);
    atomicAdd(&pass.tally->in_double, in_double);
    atomicAdd(&pass.tally->pairs, pairs);
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

/// Places of the rows of a batch, which are in group order, among the result's rows.
__global__ void cursor_kernel(const std::uint64_t* row_begin, const std::uint32_t* rank, std::uint32_t rows,
                              unsigned long long* cursor, std::uint64_t* end) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  cursor[i] = row_begin[rank[i]];
  end[i] = row_begin[rank[i] + 1];
}

__global__ void compare_kernel(const unsigned long long* cursor, const std::uint64_t* end, std::uint32_t rows,
                               std::uint32_t* different) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows && cursor[i] != end[i]) atomicAdd(different, 1U);
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

void traverse_directly(const DirectPass& pass, const Hierarchy& groups, const CandidateThreshold& threshold,
                       Stream stream) {
  direct_kernel<<<blocks_for(pass.row_end - pass.row_begin, kThreads), kThreads, 0, stream>>>(pass, view_of(groups),
                                                                                              threshold);
  check_launch("join directly");
}

DirectJoin::DirectJoin(const DeviceTask& task, const DeviceIndex& index, DeviceMemory& memory, Stream stream)
    : task_(task), index_(index), memory_(memory), stream_(stream) {
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

DirectPass DirectJoin::pass_over(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end) const {
  DirectPass pass{};
  pass.queries = task_.queries;
  pass.points = task_.points;
  pass.rule = {limits_.out, limits_.in, limits_.in_double.in, limits_.in_double.out,
               task_.self_join && !task_.include_self};
  pass.row_begin = range.row_begin;
  pass.row_end = range.row_end;
  pass.group_begin = group_begin;
  pass.group_end = group_end;
  return pass;
}

RefinementCounts DirectJoin::count_open(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end,
                                        std::uint32_t* counts, Open& open) {
  const std::uint32_t rows = range.row_end - range.row_begin;
  DeviceArray<DirectTally> tally(memory_, 1, stream_, "the counters of a batch");
  DirectTally seen{};
  std::uint64_t room = kLeastOpenRoom;
  DeviceArray<std::uint32_t> before(memory_, rows, stream_, "the counts of a batch");
  check(cudaMemcpyAsync(before.data(), counts, before.bytes(), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
  for (;;) {
    DeviceArray<OpenPair> pairs(memory_, room, stream_, "pairs for the exact tiers");
    check(cudaMemsetAsync(tally.data(), 0, tally.bytes(), stream_), "cudaMemsetAsync");
    DirectPass pass = pass_over(range, group_begin, group_end);
    pass.counts = counts;
    pass.open = pairs.data();
    pass.open_room = room;
    pass.tally = tally.data();
    index_.join_directly(pass, memory_, stream_);
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

void DirectJoin::check_complete(const DeviceArray<unsigned long long>& cursor,
                                const DeviceArray<std::uint64_t>& end) const {
  DeviceArray<std::uint32_t> different(memory_, 1, stream_, "the check of a batch");
  check(cudaMemsetAsync(different.data(), 0, different.bytes(), stream_), "cudaMemsetAsync");
  const auto rows = static_cast<std::uint32_t>(end.size());
  compare_kernel<<<blocks_for(rows, 256), 256, 0, stream_>>>(cursor.data(), end.data(), rows, different.data());
  check_launch("check rows");
  std::uint32_t wrong = 0;
  copy_to_host(different.data(), 1, &wrong, stream_);
  if (wrong != 0) {
    throw DeviceError(
        "the index met other neighbours of " + std::to_string(wrong) +
        " rows when it listed them than when it counted them; choose index 'bvh', and please report this");
  }
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
    DeviceArray<std::uint64_t> end(memory_, rows, stream_, "the rows of a batch");
    cursor_kernel<<<blocks_for(rows, kThreads), kThreads, 0, stream_>>>(chunk.row_begin.data(), order.rank.data(), rows,
                                                                        cursor.data(), end.data());
    check_launch("place rows");
    if (!open.pairs.empty()) {
      enter_kernel<<<blocks_for(open.pairs.size(), kThreads), kThreads, 0, stream_>>>(
          open.on_device.data(), open.pairs.size(), range.row_begin, task_.points.original_id, nullptr, cursor.data(),
          ids.data());
      check_launch("enter exact pairs");
    }
    DirectPass pass = pass_over(range, group_begin, group_end);
    pass.cursor = cursor.data();
    pass.end = end.data();
    pass.ids = ids.data();
    index_.join_directly(pass, memory_, stream_);
    check_complete(cursor, end);
  }
  chunk.neighbours = sort_rows(std::move(ids), chunk.row_begin.data(), rows, memory_, stream_);
  chunk.query_ids = std::move(order.query_ids);
  return done;
}

}  // namespace rthiss::cuda
