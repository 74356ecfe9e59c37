#include "dataset/filter_space.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/parallel.hpp"

namespace rthiss {

namespace {

constexpr double kFloatMax = std::numeric_limits<float>::max();
// Half an ulp of 1 in double; every bound below is inflated by a few of these for its own rounding.
constexpr double kUnit = 0x1p-53;

/// Mean of a few hundred rows: any centre is right, a near one keeps the images small.
Array<double> sample_center(const Dataset& data) {
  const std::size_t d = data.columns();
  Array<double> center(d, 0.0);
  const std::uint64_t step = std::max<std::uint64_t>(1, data.rows() / 256);
  Array<double> row(d);
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < data.rows(); i += step) {
    data.read_row(i, row.data());
    if (!std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); })) continue;
    // A running mean does not overflow where a sum of values near the limit would.
    for (std::size_t k = 0; k < d; ++k) center[k] += (row[k] - center[k]) / static_cast<double>(taken + 1);
    ++taken;
  }
  for (double& value : center) {
    if (!std::isfinite(value)) value = 0.0;
  }
  return center;
}

// Sums of squares of differences of bytes stay below 2^31.
constexpr std::size_t kMostByteColumns = 32768;

bool has_negative(const Dataset& data, const ThreadPool& pool) {
  if (data.dtype() == DType::kUInt8 || data.dtype() == DType::kBool) return false;
  std::atomic<bool> found{false};
  pool.for_ranges(0, data.rows(), 1024, [&](std::size_t begin, std::size_t end) {
    Array<double> row(data.columns());
    for (std::size_t i = begin; i < end && !found.load(std::memory_order_relaxed); ++i) {
      data.read_row(i, row.data());
      double least = 0.0;
      for (const double value : row) least = std::min(least, value);
      if (least < 0.0) found.store(true, std::memory_order_relaxed);
    }
  });
  return found.load();
}

// Grids on which float64 sums of squares are exact as well, so that the exact tiers compare with a limit in steps:
// squares of steps and their sums neither underflow nor overflow.
constexpr int kLowestGrid = -537;
constexpr int kHighestGrid = 485;

}  // namespace

FilterSpace FilterSpace::choose(const Dataset& points, const Dataset* queries, bool cosine, double radius,
                                const ThreadPool& pool) {
  FilterSpace space;
  if (cosine) {
    space.normalize = true;
    return space;
  }
  const ValueGrid grid = queries != nullptr ? ValueGrid::common(points.grid(), queries->grid()) : points.grid();
  if (grid.on_grid && grid.max_steps <= 0x1p24 && grid.exponent >= kLowestGrid && grid.exponent <= kHighestGrid) {
    space.scale = std::ldexp(1.0, -grid.exponent);
    space.integers = true;
    space.no_underflow = true;
    space.bytes = grid.max_steps <= 255.0 && points.columns() <= kMostByteColumns && !has_negative(points, pool) &&
                  (queries == nullptr || !has_negative(*queries, pool));
    return space;
  }
  // Near the middle of float32's range nothing needs scaling; elsewhere the radius (or the data) goes to about 1.
  const double reference = radius > 0.0 && std::isfinite(radius) ? radius : grid.max_abs;
  if (reference > 0.0 && (reference < 0x1p-40 || reference > 0x1p40)) {
    space.scale = std::ldexp(1.0, -std::clamp(std::ilogb(reference), -1000, 1000));
  }
  const bool exact = held_by_float(points.dtype()) && (queries == nullptr || held_by_float(queries->dtype()));
  if (!exact) space.center = sample_center(points);
  // On a grid, differences are 0 or at least one step (that of the centred images is not known to be on it).
  space.no_underflow = exact && grid.on_grid && std::ldexp(space.scale, grid.exponent) >= 0x1p-62;
  return space;
}

bool FilterSpace::same_images(const FilterSpace& other) const {
  return scale == other.scale && normalize == other.normalize && integers == other.integers && bytes == other.bytes &&
         no_underflow == other.no_underflow &&
         std::equal(center.begin(), center.end(), other.center.begin(), other.center.end());
}

float FilterSpace::load(const Dataset& data, std::uint64_t i, float* out, double* scratch) const {
  const std::size_t d = data.columns();
  const PointsView& view = data.view();
  const Array<std::uint32_t>& ignored = data.ignored_rows();
  if (!ignored.empty() && std::binary_search(ignored.begin(), ignored.end(), i)) {
    std::fill_n(out, d, 0.0F);
    return std::numeric_limits<float>::infinity();
  }
  const bool as_stored = center.empty() && scale == 1.0 && !normalize;
  const char* row = static_cast<const char*>(view.data) + static_cast<std::int64_t>(i) * view.row_stride;
  if (as_stored && view.dtype == DType::kFloat32 && !view.byte_swapped && view.column_stride == 4 &&
      reinterpret_cast<std::uintptr_t>(row) % alignof(float) == 0) {
    std::copy_n(reinterpret_cast<const float*>(row), d, out);
    return 0.0F;
  }
  if (as_stored && view.dtype == DType::kUInt8 && view.column_stride == 1) {
    std::copy_n(reinterpret_cast<const std::uint8_t*>(row), d, out);
    return 0.0F;
  }
  data.read_row(i, scratch);
  double relative = 0.0;  // bound on the error of `image`, relative to its norm
  double factor = scale;
  if (normalize) {
    // Scaled by a power of two first, so that the sum of squares neither overflows nor underflows.
    double largest = 0.0;
    for (std::size_t k = 0; k < d; ++k) largest = std::max(largest, std::abs(scratch[k]));
    if (largest == 0.0) {
      std::fill_n(out, d, 0.0F);
      return std::numeric_limits<float>::infinity();
    }
    // In two factors, because 2^1074 is no double.
    const int exponent = -std::ilogb(largest);
    const double first = std::ldexp(1.0, exponent / 2);
    const double second = std::ldexp(1.0, exponent - exponent / 2);
    double sum = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
      scratch[k] = scratch[k] * first * second;
      sum += scratch[k] * scratch[k];
    }
    factor = 1.0 / std::sqrt(sum);
    relative = (static_cast<double>(d) + 8.0) * kUnit;
  } else if (!center.empty()) {
    for (std::size_t k = 0; k < d; ++k) scratch[k] -= center[k];
    relative = 2.0 * kUnit;
  }
  double residual = 0.0;
  double norm = 0.0;
  bool overflow = false;
  for (std::size_t k = 0; k < d; ++k) {
    const double image = scratch[k] * factor;
    overflow |= !(std::abs(image) <= kFloatMax);
    out[k] = static_cast<float>(image);
    const double lost = image - static_cast<double>(out[k]);
    residual += lost * lost;
    norm += image * image;
  }
  if (overflow || !std::isfinite(norm)) {
    std::fill_n(out, d, 0.0F);
    return std::numeric_limits<float>::infinity();
  }
  // scale is a power of two: the product is exact unless it underflows (at most 2^-1075 a component).
  if (relative == 0.0 && residual == 0.0) {
    const bool may_underflow = factor < 1.0 && !integers;
    return may_underflow ? 0x1p-149F : 0.0F;
  }
  const double bound = (std::sqrt(residual) + (relative + 4.0 * kUnit) * std::sqrt(norm)) *
                           (1.0 + (static_cast<double>(d) + 8.0) * kUnit) +
                       static_cast<double>(d) * 0x1p-500;
  return std::nextafter(static_cast<float>(bound), std::numeric_limits<float>::infinity());
}

}  // namespace rthiss
