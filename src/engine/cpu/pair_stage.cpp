#include "engine/cpu/pair_stage.hpp"

#include <bit>

#include "simd/tile.hpp"

namespace rthiss::cpu {

float exact_integer_limit(const RefinementTask& task) {
  if (!task.space->integers) return -1.0F;
  const std::optional<double> limit = task.decider->grid_limit();
  return limit && *limit < 0x1p24 ? static_cast<float>(*limit) : -1.0F;
}

PairStage::PairStage(const RefinementTask& task, const FilterLimits& limits, const GroupRows& queries,
                     const GroupRows& points)
    : task_(task), limits_(limits), queries_(queries), points_(points), integer_limit_(exact_integer_limit(task)) {}

std::uint64_t PairStage::decide(Scratch& scratch, std::uint32_t block, std::uint32_t query, std::uint32_t group,
                                std::uint32_t point_begin, std::uint64_t open) const {
  std::size_t count = 0;
  for (std::uint64_t bits = open; bits != 0; bits &= bits - 1) {
    scratch.rows[count++] = static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  if (points_.fine_stride != 0) {
    const std::size_t width = points_.fine_stride;
    const double error =
        static_cast<double>(queries_.fine_error[block]) + static_cast<double>(points_.fine_error[group]);
    const float limit = limits_.out(error, static_cast<double>(width) + 4.0, FilterLimits::projected_underflow(width));
    simd::pair_distances(queries_.fine.data() + query * width, points_.fine.data() + point_begin * width, width,
                         scratch.rows, count, width, limit, scratch.sums);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      scratch.rows[kept] = scratch.rows[i];
      kept += scratch.sums[i] > limit ? 0 : 1;
    }
    count = kept;
    if (count == 0) return 0;
  }
  const std::size_t stride = points_.full_stride;
  const std::size_t columns = task_.points->data->columns();
  float out = integer_limit_;
  float in = integer_limit_;
  if (integer_limit_ < 0.0F) {
    const double error =
        static_cast<double>(queries_.full_error[block]) + static_cast<double>(points_.full_error[group]);
    const double units = static_cast<double>(columns) + 20.0;
    out = limits_.out(error, units, limits_.row_underflow(stride));
    in = limits_.in(error, units, limits_.row_underflow(stride));
  }
  simd::pair_distances(queries_.full.data() + query * stride, points_.full.data() + point_begin * stride, stride,
                       scratch.rows, count, stride, out, scratch.sums);
  std::uint64_t hits = 0;
  bool query_read = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (scratch.sums[i] > out) continue;
    const std::uint32_t j = scratch.rows[i];
    bool within = scratch.sums[i] <= in;
    if (!within) {
      // In the band that float32 cannot decide, or not a number.
      if (!query_read) {
        task_.queries->data->read_row(task_.queries->grouping.original_id[query], scratch.query.data());
        query_read = true;
      }
      task_.points->data->read_row(task_.points->grouping.original_id[point_begin + j], scratch.point.data());
      within = task_.decider->within(scratch.query.data(), scratch.point.data(), scratch.decided);
    }
    hits |= static_cast<std::uint64_t>(within) << j;
  }
  return hits;
}

}  // namespace rthiss::cpu
