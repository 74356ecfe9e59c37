#pragma once

#include <cstdint>
#include <limits>

#include "engine/cuda/direct_pass.hpp"

namespace rthiss::cuda {

enum class Verdict : int { kOut, kIn, kOpen };

/// `exact`: float64 or float32 values as stored.
template <typename Exact>
__device__ __forceinline__ Verdict decide_in_double(const Exact* x, const Exact* y, std::uint32_t columns,
                                                    const DirectRule& rule) {
  double sum = 0.0;
  for (std::uint32_t k = 0; k < columns; ++k) {
    const double difference = static_cast<double>(x[k]) - static_cast<double>(y[k]);
    sum = fma(difference, difference, sum);
  }
  if (sum <= rule.double_in) return Verdict::kIn;
  return sum > rule.double_out ? Verdict::kOut : Verdict::kOpen;
}

__device__ __forceinline__ Verdict decide_in_double(const DeviceSet& queries, std::uint32_t q, const DeviceSet& points,
                                                    std::uint32_t p, const DirectRule& rule) {
  const std::size_t x = std::size_t{q} * queries.exact_stride, y = std::size_t{p} * points.exact_stride;
  if (queries.exact64 != nullptr) {
    return decide_in_double(queries.exact64 + x, points.exact64 + y, queries.columns, rule);
  }
  return decide_in_double(queries.exact32 + x, points.exact32 + y, queries.columns, rule);
}

__device__ __forceinline__ bool usable(const DeviceSet& set, std::uint32_t row) {
  return set.load_error == nullptr || set.load_error[row] < std::numeric_limits<float>::infinity();
}

/// What one query has met so far.
struct DirectFound {
  std::uint32_t pairs = 0;
  std::uint32_t compared = 0, in_double = 0;
};

/// Query q, if active, against point p: the tiers of DirectJoin.
__device__ __forceinline__ void meet(const DirectPass& pass, std::uint32_t q, std::uint32_t p, bool query_usable,
                                     unsigned long long& at, DirectFound& found) {
  const DirectRule& rule = pass.rule;
  if (pass.points.ignored != nullptr && pass.points.ignored[p] != 0) return;
  if (rule.drop_self && p == q) return;
  ++found.compared;
  Verdict verdict = Verdict::kOpen;
  if (query_usable && usable(pass.points, p)) {
    const float* x = pass.queries.images + std::size_t{q} * pass.queries.image_stride;
    const float* y = pass.points.images + std::size_t{p} * pass.points.image_stride;
    float sum = 0.0F;
    for (std::uint32_t k = 0; k < pass.queries.columns; ++k) {
      const float difference = x[k] - y[k];
      sum = fmaf(difference, difference, sum);
    }
    if (sum > rule.out) return;
    if (sum <= rule.in) verdict = Verdict::kIn;
  }
  if (verdict == Verdict::kOpen) {
    verdict = decide_in_double(pass.queries, q, pass.points, p, rule);
    if (verdict != Verdict::kOpen) ++found.in_double;
  }
  if (verdict == Verdict::kOut) return;
  if (verdict == Verdict::kIn) {
    ++found.pairs;
    if (pass.lists()) {
      // Counted beyond the end too, so that a pass that finds more than the one before is noticed.
      if (at < pass.end[q - pass.row_begin]) pass.ids[at] = pass.points.original_id[p];
      ++at;
    }
  } else if (!pass.lists()) {
    const unsigned long long place = atomicAdd(&pass.tally->open, 1ULL);
    if (place < pass.open_room) pass.open[place] = {q, p};
  }
}

}  // namespace rthiss::cuda
