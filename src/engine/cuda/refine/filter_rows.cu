#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/refine/filter_rows.hpp"
#include "geometry/rounding.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint32_t kChunk = 32;
constexpr std::uint32_t kCenterRows = 1024;
// A tile of the last group may read that many rows beyond the end.
constexpr std::size_t kRowsBeyond = 64;
// Two numbers a column where the mean error of one is above this part of the radius: about 4 % of the distances around
// the radius would be left open.
constexpr double kCoarse = 1.0 / 128.0;
// Beyond every distance of scaled rows of fewer than 2^38 columns.
constexpr double kFarthest = 0x1p30;
// Covers the roundings of float64 that a bound below goes through.
constexpr double kSlack = 1e-9;

__device__ bool usable(const DeviceSet& set, std::uint32_t row) {
  if (set.ignored != nullptr && set.ignored[row] != 0) return false;
  return set.load_error == nullptr || set.load_error[row] < std::numeric_limits<float>::infinity();
}

/// One thread a column: mean of some rows.
__global__ void center_kernel(DeviceSet set, bool whole_numbers, float* center) {
  const std::uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= set.image_stride) return;
  const std::uint32_t taken = min(set.rows, kCenterRows);
  double mean = 0.0;
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < taken; ++i) {
    const auto row = static_cast<std::uint32_t>(std::uint64_t{i} * set.rows / taken);
    if (!usable(set, row)) continue;
    ++used;
    mean += (static_cast<double>(set.images[std::size_t{row} * set.image_stride + column]) - mean) / used;
  }
  center[column] = static_cast<float>(whole_numbers ? rint(mean) : mean);
}

__global__ void reach_kernel(DeviceSet set, const float* center, unsigned long long* largest) {
  double most = 0.0;
  const std::size_t values = std::size_t{set.rows} * set.image_stride;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < values;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const auto row = static_cast<std::uint32_t>(i / set.image_stride);
    const auto column = static_cast<std::uint32_t>(i % set.image_stride);
    if (column >= set.columns || !usable(set, row)) continue;
    most = fmax(most, fabs(static_cast<double>(set.images[i]) - static_cast<double>(center[column])));
  }
  for (int offset = 16; offset > 0; offset /= 2) most = fmax(most, __shfl_xor_sync(kWholeWarp, most, offset));
  // Not negative: ordered like integers.
  if (threadIdx.x % 32 == 0) atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(most)));
}

__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kWholeWarp, value, offset);
  return value;
}

struct RowRule {
  double scale, out_radius, in_radius, loss;  // radii already scaled; in_radius < 0: proves nothing
  std::uint64_t plane;
  std::uint32_t padded, chunk;
  bool split, accepts_everything, accepts_nothing;
};

/// One warp a row.
__global__ void __launch_bounds__(kThreads)
    row_kernel(DeviceSet set, const float* center, RowRule rule, __half* values, float* start, float* shift,
               float* limit_out, float* limit_in, double* error_sum) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t row = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row >= set.rows + kRowsBeyond) return;
  __half* const out = values + row * rule.chunk;
  const bool inside = row < set.rows;
  const auto position = static_cast<std::uint32_t>(inside ? row : 0);
  const bool has_image = inside && usable(set, position);
  const float* image = set.images + std::size_t{position} * set.image_stride;
  double norm = 0.0, lost = 0.0, length = 0.0, low_norm = 0.0;
  for (std::uint32_t k = lane; k < rule.padded; k += 32) {
    double t = 0.0;
    if (has_image && k < set.columns) {
      t = rule.scale * (static_cast<double>(image[k]) - static_cast<double>(center[k]));
    }
    const __half high = __float2half_rn(static_cast<float>(t));
    double x = static_cast<double>(__half2float(high));
    out[k / rule.chunk * rule.plane + k % rule.chunk] = high;
    if (rule.split) {
      const __half low = __float2half_rn(static_cast<float>(t - x));
      const double rest = static_cast<double>(__half2float(low));
      out[(rule.padded + k) / rule.chunk * rule.plane + k % rule.chunk] = low;
      low_norm += rest * rest;
      x += rest;
    }
    norm += x * x;
    lost += (t - x) * (t - x);
    length += t * t;
  }
  norm = warp_sum(norm);
  lost = warp_sum(lost);
  length = warp_sum(length);
  low_norm = warp_sum(low_norm);
  if (lane != 0 || !inside) return;
  const bool ignored = set.ignored != nullptr && set.ignored[row] != 0;
  if (ignored || rule.accepts_nothing) {
    start[row] = -kFilterNever;
    shift[row] = limit_in[row] = limit_out[row] = kFilterNever;
    return;
  }
  if (rule.accepts_everything) {
    start[row] = kFilterOpen;
    shift[row] = 0.0F;
    limit_in[row] = limit_out[row] = -kFilterOpen;
    return;
  }
  if (!has_image) {
    start[row] = kFilterOpen;
    shift[row] = limit_in[row] = 4.0F * kFilterOpen;
    limit_out[row] = -kFilterOpen;
    return;
  }
  const double load_error = set.load_error == nullptr ? 0.0 : static_cast<double>(set.load_error[row]);
  // The difference from the centre rounds once, relative to itself.
  const double conversion = sqrt(lost) * (1.0 + kSlack) + 0x1p-51 * sqrt(length);
  const double error = (conversion + rule.scale * load_error) * (1.0 + kSlack) + 1e-300;
  const double half = 0.5 * norm;
  const double big = rule.out_radius, small = rule.in_radius;
  const double loss =
      (rule.loss * (0.5 * big * big + 2.02 * half + big * error + error * error) + 0.51 * low_norm) * (1.0 + kSlack);
  const double near = (big * error + error * error) * (1.0 + kSlack) + loss + kSlack * 1e-6 * half + 1e-300;
  const float first = round_up_to_float(0.5 * big * big * (1.0 + kSlack * 1e-3) - half + near);
  start[row] = first;
  limit_out[row] = round_down_to_float(half - near);
  if (small >= 0.0 && isfinite(first)) {
    const double sure = half + small * error * (1.0 + kSlack) + loss + kSlack * 1e-6 * half;
    limit_in[row] = round_up_to_float(sure);
    shift[row] = round_up_to_float(static_cast<double>(first) + sure - 0.5 * small * small * (1.0 - kSlack * 1e-3) +
                                   kSlack * 1e-3 * static_cast<double>(fabsf(first)));
  } else {
    limit_in[row] = shift[row] = 4.0F * kFilterOpen;
  }
  // Mean of a few rows is enough for a choice.
  if (error_sum != nullptr && row % 64 == 0) {
    atomicAdd(error_sum, conversion);
    atomicAdd(error_sum + 1, 1.0);
  }
}

}  // namespace

FilterRows FilterData::Side::view(const FilterData& owner) const {
  FilterRows view;
  view.values = values.data();
  view.start = numbers.data();
  view.shift = view.start + rows;
  view.limit_out = view.shift + rows;
  view.limit_in = view.limit_out + rows;
  view.padded = owner.padded_;
  view.chunk = std::min(owner.padded_, kChunk);
  view.plane = (std::uint64_t{rows} + kRowsBeyond) * view.chunk;
  return view;
}

void FilterData::fill(const DeviceTask& task, const DeviceSet& set, const float* center, double scale, Side& side,
                      double* error_sum, DeviceMemory& memory, Stream stream) {
  const FilterLimits limits(task.threshold, *task.space);
  RowRule rule{};
  rule.scale = scale;
  rule.padded = padded_;
  rule.split = split_;
  rule.out_radius = std::min(limits.out_radius() * scale * (1.0 + kSlack * 1e-3), kFarthest);
  rule.in_radius =
      limits.in_radius() >= 0.0 ? std::min(limits.in_radius() * scale * (1.0 - kSlack * 1e-3), kFarthest) : -1.0;
  rule.loss = 4.4 * static_cast<double>(split_ ? 3 * padded_ : padded_) * 0x1p-23;
  rule.accepts_everything = task.threshold.accepts_everything;
  rule.accepts_nothing = task.threshold.accepts_nothing;
  side.rows = set.rows;
  const std::size_t rows = set.rows + kRowsBeyond;
  side.values = DeviceArray<__half>(memory, rows * padded_ * (split_ ? 2 : 1), stream, "the filter's rows");
  side.numbers = DeviceArray<float>(memory, 4 * std::size_t{set.rows}, stream, "the filter's limits");
  const FilterRows view = side.view(*this);
  rule.plane = view.plane;
  rule.chunk = view.chunk;
  row_kernel<<<blocks_for(rows * 32, kThreads), kThreads, 0, stream>>>(
      set, center, rule, side.values.data(), const_cast<float*>(view.start), const_cast<float*>(view.shift),
      const_cast<float*>(view.limit_out), const_cast<float*>(view.limit_in), error_sum);
  check_launch("rows of the filter");
}

FilterData::FilterData(const DeviceTask& task, DeviceMemory& memory, Stream stream) : self_join_(task.self_join) {
  const DeviceSet& points = task.points;
  padded_ = points.columns <= 16 ? 16 : (points.columns + kChunk - 1) / kChunk * kChunk;
  DeviceArray<float> center(memory, points.image_stride, stream, "the filter's centre");
  center_kernel<<<blocks_for(points.image_stride, 64), 64, 0, stream>>>(points, task.space->integers, center.data());
  check_launch("centre of the filter");
  DeviceArray<double> sums(memory, 4, stream, "the filter's sums");
  check(cudaMemsetAsync(sums.data(), 0, sums.bytes(), stream), "cudaMemsetAsync");
  auto* const largest = reinterpret_cast<unsigned long long*>(sums.data());
  const auto reach = [&](const DeviceSet& set) {
    const std::size_t values = std::size_t{set.rows} * set.image_stride;
    reach_kernel<<<std::min(grid_for(values, kThreads), 2048U), kThreads, 0, stream>>>(set, center.data(), largest);
    check_launch("reach of the filter");
  };
  reach(points);
  if (!self_join_) reach(task.queries);
  double farthest = 0.0;
  copy_to_host(sums.data(), 1, &farthest, stream);
  // The largest component lies in [2^9, 2^10): far from float16's overflow, and what underflows is below 2^-34 of it.
  const double scale = farthest > 0.0 ? std::ldexp(1.0, 9 - std::ilogb(farthest)) : 1.0;
  const auto fill_both = [&](double* error_sum) {
    fill(task, points, center.data(), scale, points_, error_sum, memory, stream);
    if (!self_join_) fill(task, task.queries, center.data(), scale, queries_, error_sum, memory, stream);
  };
  fill_both(sums.data() + 2);
  double errors[2] = {};
  copy_to_host(sums.data() + 2, 2, errors, stream);
  const double radius = FilterLimits(task.threshold, *task.space).out_radius() * scale;
  if (errors[1] > 0.0 && errors[0] / errors[1] > kCoarse * radius) {
    split_ = true;
    fill_both(nullptr);
  }
}

}  // namespace rthiss::cuda
