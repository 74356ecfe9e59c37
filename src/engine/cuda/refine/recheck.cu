#include <limits>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/refine/hit_output.cuh"
#include "engine/cuda/refine/recheck.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;
// Lanes of a pair: rows of more columns are read by several.
constexpr std::uint32_t kLongRow = 32;
constexpr double kSlack = 1e-9;

struct Rule {
  DoubleLimits stored;
  double out_radius, in_radius;
  bool by_images;
};

template <typename Value>
__device__ double sum_part(const Value* x, const Value* y, std::uint32_t width, std::uint32_t first,
                           std::uint32_t step) {
  double sum = 0.0;
  for (std::uint32_t k = first; k < width; k += step) {
    const double difference = static_cast<double>(__ldg(x + k)) - static_cast<double>(__ldg(y + k));
    sum = fma(difference, difference, sum);
  }
  return sum;
}

template <int kLanes, typename Value>
__device__ double pair_sum(const Value* x, const Value* y, std::uint32_t width, std::uint32_t lane) {
  double sum = sum_part(x, y, width, lane % kLanes, kLanes);
  for (int offset = kLanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(kWholeWarp, sum, offset);
  return sum;
}

__device__ void enter_hit(const OpenPair& pair, const PairRule& rule, const HitTarget& hits) {
  add_hits(hits, pair.query, 1);
  const bool mirrored = rule.mirrored(pair.query, pair.point);
  if (mirrored) add_hits(hits, pair.point, 1);
  atomicAdd(&hits.tally->ordered, mirrored ? 2ULL : 1ULL);
  if (hits.pairs == nullptr) return;
  const unsigned long long at = atomicAdd(&hits.tally->pairs, 1ULL);
  if (at < hits.pair_room) hits.pairs[at] = pair;
}

/// kLanes neighbouring lanes a pair.
template <int kLanes>
__global__ void __launch_bounds__(kThreads)
    recheck_kernel(const __grid_constant__ DeviceSet queries, const __grid_constant__ DeviceSet points,
                   const __grid_constant__ Rule rule, const OpenPair* open, std::uint64_t count,
                   const __grid_constant__ PairRule pairs, const __grid_constant__ HitTarget hits, OpenPair* rest,
                   RecheckTally* tally) {
  const std::uint32_t lane = threadIdx.x % 32;
  unsigned long long decided = 0;
  const std::uint64_t all_lanes = std::uint64_t{gridDim.x} * blockDim.x;
  // Whole warps stay together: the last pair is read by lanes that have none.
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i - lane < count * kLanes;
       i += all_lanes) {
    const std::uint64_t number = i / kLanes;
    const OpenPair pair = open[number < count ? number : count - 1];
    bool in = false, out = false;
    if (rule.by_images) {
      const double s =
          pair_sum<kLanes>(queries.images + std::size_t{pair.query} * queries.image_stride,
                           points.images + std::size_t{pair.point} * points.image_stride, queries.columns, lane);
      const double error = (queries.load_error == nullptr ? 0.0 : static_cast<double>(queries.load_error[pair.query])) +
                           (points.load_error == nullptr ? 0.0 : static_cast<double>(points.load_error[pair.point]));
      const double far = (rule.out_radius + error) * (1.0 + kSlack), near = rule.in_radius - error;
      out = s > far * far + 1e-300;
      in = near >= 0.0 && s <= near * near * (1.0 - kSlack) - 1e-290;
    } else {
      const std::size_t x = std::size_t{pair.query} * queries.exact_stride;
      const std::size_t y = std::size_t{pair.point} * points.exact_stride;
      const double s = queries.exact64 != nullptr
                           ? pair_sum<kLanes>(queries.exact64 + x, points.exact64 + y, queries.columns, lane)
                           : pair_sum<kLanes>(queries.exact32 + x, points.exact32 + y, queries.columns, lane);
      in = s <= rule.stored.in;
      out = s > rule.stored.out;
    }
    if (lane % kLanes != 0 || number >= count) continue;
    if (in || out) ++decided;
    if (in) enter_hit(pair, pairs, hits);
    if (!in && !out) rest[atomicAdd(&tally->rest, 1ULL)] = pair;
  }
  for (int offset = 16; offset > 0; offset /= 2) decided += __shfl_xor_sync(kWholeWarp, decided, offset);
  if (lane == 0 && decided != 0) atomicAdd(&tally->decided, decided);
}

__global__ void enter_kernel(const OpenPair* pairs, std::uint64_t count, const PairRule rule, const HitTarget hits) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) enter_hit(pairs[i], rule, hits);
}

}  // namespace

Recheck::Recheck(const DeviceTask& task) : task_(task), stored_(task.decider->double_limits()) {
  const FilterLimits limits(task.threshold, *task.space);
  out_radius_ = limits.out_radius();
  in_radius_ = limits.in_radius();
}

void Recheck::run(const OpenPair* open, std::uint64_t count, const PairRule& rule, const HitTarget& hits,
                  OpenPair* rest, RecheckTally* tally, Stream stream) const {
  if (count == 0) return;
  Rule limits{stored_, out_radius_, in_radius_, false};
  limits.by_images = stored_.in < 0.0 && stored_.out == std::numeric_limits<double>::infinity();
  if (task_.points.columns <= kLongRow) {
    recheck_kernel<1><<<grid_for(count, kThreads), kThreads, 0, stream>>>(task_.queries, task_.points, limits, open,
                                                                          count, rule, hits, rest, tally);
  } else {
    recheck_kernel<8><<<grid_for(8 * count, kThreads), kThreads, 0, stream>>>(task_.queries, task_.points, limits, open,
                                                                              count, rule, hits, rest, tally);
  }
  check_launch("recheck in float64");
}

void enter_hits(const OpenPair* pairs, std::uint64_t count, const PairRule& rule, const HitTarget& hits,
                Stream stream) {
  if (count == 0) return;
  enter_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(pairs, count, rule, hits);
  check_launch("enter exact hits");
}

}  // namespace rthiss::cuda
