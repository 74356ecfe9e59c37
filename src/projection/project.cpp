#include "projection/project.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/parallel.hpp"
#include "common/round_up_to.hpp"
#include "projection/error_bound.hpp"
#include "simd/gemm.hpp"

namespace rthiss {

namespace {

constexpr double kFloatUnit = 0x1p-24;
constexpr double kDoubleUnit = 0x1p-53;
constexpr std::size_t kRowsPerBlock = 16 * simd::kGemmRows;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float to_float_above(double value) {
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) < value ? std::nextafter(rounded, kInfinity) : rounded;
}

/// In eight partial sums, which the compiler keeps in vector registers; the bound of any order holds.
double sum_of_squares(const float* values, std::size_t count) {
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  for (; i < count; ++i) sums[0] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void set_unusable(float* image, std::size_t stride, float& error) {
  std::fill_n(image, stride, 0.0F);
  error = kInfinity;
}

void project_pca(const Dataset& data, const FilterSpace& space, const Projection& projection, ProjectedPoints& out,
                 const ThreadPool& pool) {
  const std::size_t d = projection.columns;
  const std::size_t k = projection.components;
  const std::size_t padded = round_up_to(k, 16);
  // Transposed for gemm: [d x padded].
  Array<float> packed(d * padded, 0.0F);
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t c = 0; c < d; ++c) packed[c * padded + j] = projection.basis[j * d + c];
  }
  const PcaErrorBound error_bound(d, k, projection.basis_defect, simd::gemm_error_units(d));
  pool.for_ranges(0, round_up_to(data.rows(), kRowsPerBlock) / kRowsPerBlock, 1,
                  [&](std::size_t begin, std::size_t end) {
                    Array<float> rows(kRowsPerBlock * d);
                    Array<float> images(kRowsPerBlock * padded);
                    Array<float> load_error(kRowsPerBlock);
                    Array<double> scratch(d);
                    for (std::size_t block = begin; block < end; ++block) {
                      const std::size_t first = block * kRowsPerBlock;
                      const std::size_t count = std::min<std::size_t>(kRowsPerBlock, data.rows() - first);
                      const std::size_t padded_rows = round_up_to(count, simd::kGemmRows);
                      for (std::size_t i = 0; i < count; ++i) {
                        float* row = rows.data() + i * d;
                        load_error[i] = space.load(data, first + i, row, scratch.data());
                        for (std::size_t c = 0; c < d; ++c) row[c] -= projection.center[c];
                      }
                      std::fill(rows.data() + count * d, rows.data() + padded_rows * d, 0.0F);
                      simd::gemm(rows.data(), d, padded_rows, packed.data(), padded, d, images.data(), padded, padded);
                      for (std::size_t i = 0; i < count; ++i) {
                        const float* row = rows.data() + i * d;
                        const float* image = images.data() + i * padded;
                        float* target = out.values.data() + (first + i) * out.stride;
                        double norm2 = 0.0;
                        for (std::size_t c = 0; c < d; ++c)
                          norm2 += static_cast<double>(row[c]) * static_cast<double>(row[c]);
                        double image2 = 0.0;
                        for (std::size_t j = 0; j < k; ++j) {
                          image2 += static_cast<double>(image[j]) * static_cast<double>(image[j]);
                          target[j] = image[j];
                        }
                        std::fill(target + k, target + out.stride, 0.0F);
                        double rest = 0.0;
                        float& error = out.error[first + i];
                        error = error_bound(norm2, image2, load_error[i], rest);
                        if (projection.with_rest) target[k] = static_cast<float>(rest);
                        if (!(norm2 < kUsableSquare) || !(image2 < kUsableSquare) || !(error < kInfinity)) {
                          set_unusable(target, out.stride, error);
                        }
                      }
                    }
                  });
}

/// A choice of coordinates is exact; the norm of the rest is summed in double and rounded once to float32.
void project_coordinates(const Dataset& data, const FilterSpace& space, const Projection& projection,
                         ProjectedPoints& out, const ThreadPool& pool) {
  const std::size_t d = projection.columns;
  const std::size_t k = projection.components;
  pool.for_ranges(0, data.rows(), 256, [&](std::size_t begin, std::size_t end) {
    Array<float> row(d);
    Array<double> scratch(d);
    for (std::size_t i = begin; i < end; ++i) {
      float error = space.load(data, i, row.data(), scratch.data());
      float* target = out.values.data() + i * out.stride;
      for (std::size_t j = 0; j < k; ++j) target[j] = row[projection.order[j]];
      std::fill(target + k, target + out.stride, 0.0F);
      if (projection.with_rest) {
        double rest2 = 0.0;
        for (std::size_t j = k; j < d; ++j) {
          const double value = row[projection.order[j]];
          rest2 += value * value;
        }
        const double rest = std::sqrt(rest2);
        target[k] = static_cast<float>(rest);
        if (!(rest <= static_cast<double>(std::numeric_limits<float>::max()))) {
          error = kInfinity;
        } else {
          error = coordinates_error(error, rest, d);
        }
      }
      out.error[i] = error;
      if (!(error < kInfinity)) set_unusable(target, out.stride, out.error[i]);
    }
  });
}

}  // namespace

ProjectedPoints project_points(const Dataset& data, const FilterSpace& space, const Projection& projection,
                               const ThreadPool& pool) {
  ProjectedPoints out;
  out.points = data.rows();
  out.components = projection.components;
  out.width = projection.width();
  out.stride = round_up_to(out.width, 16);
  out.values = Array<float>(out.points * out.stride);
  out.error = Array<float>(out.points);
  if (projection.is_coordinates()) {
    project_coordinates(data, space, projection, out, pool);
  } else {
    project_pca(data, space, projection, out, pool);
  }
  return out;
}

ProjectedPoints shorten(const ProjectedPoints& points, std::size_t components, const ThreadPool& pool) {
  ProjectedPoints out;
  out.points = points.points;
  out.components = components;
  out.width = components + 1;
  out.stride = round_up_to(out.width, 16);
  out.values = Array<float>(out.points * out.stride, 0.0F);
  out.error = Array<float>(out.points);
  pool.for_ranges(0, out.points, 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const float* source = points.values.data() + i * points.stride;
      float* target = out.values.data() + i * out.stride;
      std::copy_n(source, components, target);
      const double rest = std::sqrt(sum_of_squares(source + components, points.width - components));
      target[components] = static_cast<float>(rest);
      const double rounding =
          rest * (kFloatUnit + (static_cast<double>(points.width) + 8.0) * kDoubleUnit) + (rest > 0.0 ? 0x1p-140 : 0.0);
      out.error[i] = to_float_above(static_cast<double>(points.error[i]) + rounding * (1.0 + 8.0 * kDoubleUnit));
      if (!(rest <= static_cast<double>(std::numeric_limits<float>::max()))) {
        set_unusable(target, out.stride, out.error[i]);
      }
    }
  });
  return out;
}

}  // namespace rthiss
