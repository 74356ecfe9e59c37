#include "engine/cpu/pair_stage.hpp"

#include <algorithm>

namespace rthiss::cpu {

float exact_integer_limit(const RefinementTask& task) {
  if (!task.space->integers) return -1.0F;
  const std::optional<double> limit = task.decider->grid_limit();
  return limit && *limit < 0x1p24 ? static_cast<float>(*limit) : -1.0F;
}

PairStage::PairStage(const RefinementTask& task, const FilterLimits& limits, const GroupRows& queries,
                     const GroupRows& points)
    : task_(task), limits_(limits), queries_(queries), points_(points), integer_limit_(exact_integer_limit(task)) {
  if (points_.byte_stride != 0) {
    // Bytes are integers under the Euclidean metric, so only a radius that is infinite or 2^53 steps long has no limit
    // on the grid, and sums of bytes stay below 2^31: everything is near.
    byte_limit_ = static_cast<std::uint32_t>(std::min(task.decider->grid_limit().value_or(4294967295.0), 4294967295.0));
  }
}

void PairStage::decide(Scratch& scratch, std::uint32_t block, std::uint32_t query_begin, std::uint32_t group,
                       std::uint32_t point_begin, std::uint64_t* words) const {
  if (points_.fine_stride != 0) keep_near_in_fine(scratch, block, query_begin, group, point_begin);
  if (points_.byte_stride != 0) return decide_bytes(scratch, query_begin, point_begin, words);

  const std::size_t stride = points_.full_stride;
  float out = integer_limit_;
  float in = integer_limit_;
  if (integer_limit_ < 0.0F) {
    const double error =
        static_cast<double>(queries_.full_error[block]) + static_cast<double>(points_.full_error[group]);
    const double units = static_cast<double>(stride) + 4.0;
    out = limits_.out(error, units, limits_.row_underflow(stride));
    in = limits_.in(error, units, limits_.row_underflow(stride));
  }
  simd::pair_distances(queries_.full.data() + query_begin * stride, points_.full.data() + point_begin * stride, stride,
                       scratch.pairs, scratch.count, stride, out, scratch.sums);
  for (std::size_t i = 0; i < scratch.count; ++i) {
    if (scratch.sums[i] > out) continue;
    const auto [row, column] = scratch.pairs[i];
    // Between the limits float32 cannot decide, nor where the sum is not a number.
    const bool within = scratch.sums[i] <= in || decide_exactly(scratch, query_begin + row, point_begin + column);
    words[row] |= static_cast<std::uint64_t>(within) << column;
  }
}

void PairStage::keep_near_in_fine(Scratch& scratch, std::uint32_t block, std::uint32_t query_begin, std::uint32_t group,
                                  std::uint32_t point_begin) const {
  const std::size_t width = points_.fine_stride;
  const double error = static_cast<double>(queries_.fine_error[block]) + static_cast<double>(points_.fine_error[group]);
  const float limit = limits_.out(error, static_cast<double>(width) + 4.0, FilterLimits::projected_underflow(width));
  simd::pair_distances(queries_.fine.data() + query_begin * width, points_.fine.data() + point_begin * width, width,
                       scratch.pairs, scratch.count, width, limit, scratch.sums);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < scratch.count; ++i) {
    scratch.pairs[kept] = scratch.pairs[i];
    kept += scratch.sums[i] > limit ? 0 : 1;
  }
  scratch.count = kept;
}

void PairStage::decide_bytes(Scratch& scratch, std::uint32_t query_begin, std::uint32_t point_begin,
                             std::uint64_t* words) const {
  const std::size_t stride = points_.byte_stride;
  simd::pair_distances(queries_.bytes.data() + query_begin * stride, points_.bytes.data() + point_begin * stride,
                       stride, scratch.pairs, scratch.count, scratch.integer_sums);
  for (std::size_t i = 0; i < scratch.count; ++i) {
    const auto [row, column] = scratch.pairs[i];
    words[row] |= static_cast<std::uint64_t>(scratch.integer_sums[i] <= byte_limit_) << column;
  }
}

bool PairStage::decide_exactly(Scratch& scratch, std::uint32_t query, std::uint32_t point) const {
  task_.queries->data->read_row(task_.queries->grouping.original_id[query], scratch.query.data());
  task_.points->data->read_row(task_.points->grouping.original_id[point], scratch.point.data());
  return task_.decider->within(scratch.query.data(), scratch.point.data(), scratch.decided);
}

}  // namespace rthiss::cpu
