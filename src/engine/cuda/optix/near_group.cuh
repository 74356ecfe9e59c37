#pragma once

#include <cstdint>

#include "engine/cuda/direct_pair.cuh"
#include "engine/cuda/optix/launch_parameters.hpp"
#include "geometry/rounding.hpp"

/// What happens where a query meets a group's box, shared by the programs on rays and the kernel for queries that a ray
/// cannot stand for.
namespace rthiss::cuda::optix {

/// The test of CandidateThreshold, in the order of operations of the hierarchy, so that both list the same.
__device__ __forceinline__ bool is_near(const LaunchParameters& launch, std::uint32_t q, std::uint32_t g) {
  const float* query = launch.queries.low + std::size_t{q} * launch.queries.stride;
  const float limit = launch.threshold(launch.threshold.reach(launch.queries.error[q]), launch.groups.error[g]);
  const bool squared = launch.threshold.squared();
  float sum = 0.0F;
  for (std::uint32_t c = 0; c < launch.components; ++c) {
    float low, high;
    if (launch.sphere_boxes) {
      const float* sphere = launch.groups.sphere + std::size_t{g} * 4;
      low = add_down(sphere[c], -sphere[3]);
      high = add_up(sphere[c], sphere[3]);
    } else {
      low = launch.groups.low[std::size_t{g} * launch.groups.stride + c];
      high = launch.groups.high[std::size_t{g} * launch.groups.stride + c];
    }
    const float gap = fmaxf(fmaxf(query[c] - high, low - query[c]), 0.0F);
    sum = squared ? fmaf(gap, gap, sum) : fmaxf(sum, gap);
    if (sum > limit) return false;
  }
  return sum <= limit;
}

/// `Carried`: add(i, n) adds to value i of kPayloadValues.
template <typename Carried>
__device__ __forceinline__ void join_group(const DirectPass& pass, std::uint32_t q, std::uint32_t g, Carried& carried) {
  if (pass.queries.ignored != nullptr && pass.queries.ignored[q] != 0) return;
  const std::uint32_t row = q - pass.row_begin;
  const bool query_usable = usable(pass.queries, q);
  // The ray is alone with its row.
  unsigned long long at = pass.lists() ? pass.cursor[row] : 0;
  DirectFound found;
  const std::uint32_t last = pass.points.group_begin[g + 1];
  for (std::uint32_t p = pass.points.group_begin[g]; p < last; ++p) meet(pass, q, p, query_usable, at, found);
  if (pass.lists()) pass.cursor[row] = at;
  carried.add(0, found.pairs);
  carried.add(1, found.compared);
  carried.add(2, found.in_double);
}

/// The box of group g holds the origin of query q's ray, or may.
template <typename Carried>
__device__ __forceinline__ void meet_group(const LaunchParameters& launch, std::uint32_t q, std::uint32_t g,
                                           Carried& carried) {
  if (g < launch.group_begin || g >= launch.group_end) return;
  std::uint32_t* word = nullptr;
  std::uint32_t block = 0;
  if (launch.task == Task::kMark) {
    block = launch.block_of_query[q];
    if (launch.once && g >= launch.once_from && block > g) return;
    block -= launch.block_begin;
    word = launch.marks + std::size_t{g} * launch.mark_words + block / 32;
    // Another query of the block was here. A stale word costs a test.
    if ((*const_cast<volatile std::uint32_t*>(word) >> block % 32 & 1) != 0) return;
  }
  if (!is_near(launch, q, g)) return;
  switch (launch.task) {
    case Task::kCountByQuery:
      carried.add(0, 1);
      break;
    case Task::kCountByGroup:
      atomicAdd(&launch.counts[g], 1U);
      break;
    case Task::kFill: {
      const auto at = atomicAdd(reinterpret_cast<unsigned long long*>(&launch.cursor[g]), 1ULL);
      // The cursor moves on all the same, so that the mismatch is noticed.
      if (at < launch.end[g]) launch.block_ids[at] = q;
      break;
    }
    case Task::kMark: {
      const std::uint32_t bit = 1U << block % 32;
      if ((atomicOr(word, bit) & bit) == 0 && launch.counts != nullptr) atomicAdd(&launch.counts[block], 1U);
      break;
    }
    case Task::kDirect:
      join_group(launch.direct, q, g, carried);
      break;
  }
}

/// After a query met its groups; `carried` is what it added up.
__device__ __forceinline__ void finish_query(const LaunchParameters& launch, std::uint32_t q,
                                             const std::uint32_t (&carried)[kPayloadValues]) {
  if (launch.task == Task::kCountByQuery) {
    launch.counts[q - launch.first_query] += carried[0];
  } else if (launch.task == Task::kDirect && !launch.direct.lists()) {
    const DirectPass& pass = launch.direct;
    pass.counts[q - pass.row_begin] += carried[0];
    atomicAdd(&pass.tally->pairs, static_cast<unsigned long long>(carried[0]));
    atomicAdd(&pass.tally->comparisons, static_cast<unsigned long long>(carried[1]));
    if (carried[2] != 0) atomicAdd(&pass.tally->in_double, static_cast<unsigned long long>(carried[2]));
  }
}

}  // namespace rthiss::cuda::optix
