#include "pipeline/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "common/parallel.hpp"
#include "common/round_up_to.hpp"
#include "pipeline/tuning.hpp"
#include "simd/gemm.hpp"

namespace rthiss {

namespace {

/// Row-major images of the sample's rows [rows x components] and |z|^2 of each; approximate, nothing is decided by
/// them.
void project_sample(const Sample& sample, const Projection& projection, std::size_t rows, std::vector<float>& images,
                    std::vector<float>& norms, const ThreadPool& pool) {
  const std::size_t d = sample.columns;
  const std::size_t k = projection.components;
  images.assign(rows * k, 0.0F);
  norms.assign(rows, 0.0F);
  const std::size_t padded = round_up_to(k, 16);
  Array<float> packed;
  if (!projection.is_coordinates()) {
    packed = Array<float>(d * padded, 0.0F);
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t c = 0; c < d; ++c) packed[c * padded + j] = projection.basis[j * d + c];
    }
  }
  pool.for_ranges(0, rows, 64, [&](std::size_t begin, std::size_t end) {
    Array<float> z(simd::kGemmRows * d, 0.0F), image(simd::kGemmRows * padded);
    for (std::size_t i = begin; i < end; ++i) {
      const float* row = sample.values.data() + i * d;
      for (std::size_t c = 0; c < d; ++c) z[c] = row[c] - (projection.is_coordinates() ? 0.0F : projection.center[c]);
      for (std::size_t c = 0; c < d; ++c) norms[i] += z[c] * z[c];
      if (projection.is_coordinates()) {
        for (std::size_t j = 0; j < k; ++j) images[i * k + j] = z[projection.order[j]];
      } else {
        simd::gemm(z.data(), d, simd::kGemmRows, packed.data(), padded, d, image.data(), padded, padded);
        std::copy_n(image.data(), k, images.data() + i * k);
      }
    }
  });
}

}  // namespace

std::string CascadeShape::describe() const {
  return fmt::format("{} components dense ({:.3g} % of sampled pairs left), {} ({:.3g} % left), cost {:.2f}", coarse,
                     100 * alive_coarse, fine == 0 ? "no second filter" : fmt::format("{} in the second filter", fine),
                     100 * alive_fine, cost);
}

AliveCurve measure_alive(const Sample& sample, const Projection& projection, double radius, const ThreadPool& pool) {
  AliveCurve curve;
  const std::size_t d = sample.columns;
  const std::size_t k = projection.components;
  for (const std::size_t step : tuning::kComponentSteps) {
    if (step < k) curve.components.push_back(step);
  }
  curve.components.push_back(k);
  const std::size_t steps = curve.components.size();
  const std::size_t rows = std::min<std::size_t>(sample.rows, tuning::kAliveSampleRows);
  std::vector<float> images, norms;
  project_sample(sample, projection, rows, images, norms, pool);

  // Norm of the rest after each step.
  std::vector<float> rests(rows * steps);
  for (std::size_t i = 0; i < rows; ++i) {
    double left = norms[i];
    std::size_t j = 0;
    for (std::size_t s = 0; s < steps; ++s) {
      for (; j < curve.components[s]; ++j) left -= static_cast<double>(images[i * k + j]) * images[i * k + j];
      rests[i * steps + s] = curve.components[s] == d ? 0.0F : static_cast<float>(std::sqrt(std::max(0.0, left)));
    }
  }
  const auto limit = static_cast<float>(radius * radius);
  std::vector<std::atomic<std::uint64_t>> alive(steps);
  pool.for_ranges(0, rows, 16, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint64_t> here(steps, 0);
    for (std::size_t a = begin; a < end; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        float sum = 0.0F;
        std::size_t j = 0;
        for (std::size_t s = 0; s < steps; ++s) {
          for (; j < curve.components[s]; ++j) {
            const float difference = images[a * k + j] - images[b * k + j];
            sum += difference * difference;
          }
          const float rest = rests[a * steps + s] - rests[b * steps + s];
          if (sum + rest * rest > limit) break;
          ++here[s];
        }
      }
    }
    for (std::size_t s = 0; s < steps; ++s) alive[s] += here[s];
  });
  curve.sample_pairs = rows < 2 ? 0 : rows * (rows - 1) / 2;
  for (std::size_t s = 0; s < steps; ++s) {
    curve.alive.push_back(
        curve.sample_pairs == 0 ? 1.0 : static_cast<double>(alive[s].load()) / static_cast<double>(curve.sample_pairs));
  }
  return curve;
}

namespace {

double alive_at(const AliveCurve& curve, std::size_t components) {
  for (std::size_t s = 0; s < curve.components.size(); ++s) {
    if (curve.components[s] >= components) return curve.alive[s];
  }
  return curve.alive.back();
}

CascadeShape shape_of(const AliveCurve& curve, std::size_t coarse, std::size_t fine, std::size_t columns,
                      bool may_be_complete, bool bytes) {
  const bool complete = may_be_complete && coarse == columns;
  // Boxes leave some multiple of what the components themselves leave.
  const double in_tiles = std::min(1.0, tuning::kBoxLooseness * alive_at(curve, 15) + 0.01);
  const double alive_coarse = std::min(in_tiles, alive_at(curve, coarse));
  const double alive_fine = fine == 0 ? alive_coarse : alive_at(curve, fine);
  double cost = in_tiles * (tuning::kTileCost + tuning::kDenseCost * static_cast<double>(coarse + (complete ? 0 : 1)));
  if (!complete) {
    if (fine != 0) cost += alive_coarse * (tuning::kPairCost + static_cast<double>(fine) * tuning::kRowCost);
    cost += alive_fine *
            (tuning::kPairCost + static_cast<double>(columns) * (bytes ? tuning::kByteCost : tuning::kRowCost));
  }
  return {coarse, fine, in_tiles, alive_coarse, alive_fine, cost};
}

}  // namespace

CascadeShape best_shape(const AliveCurve& curve, std::size_t columns, bool may_be_complete, bool bytes) {
  CascadeShape best;
  bool found = false;
  for (const std::size_t coarse : curve.components) {
    if (coarse > tuning::kMostCoarseComponents && coarse != columns) continue;
    const bool complete = may_be_complete && coarse == columns;
    for (std::size_t f = 0; f <= curve.components.size(); ++f) {
      const std::size_t fine = f == 0 ? 0 : curve.components[f - 1];
      if (fine != 0 && (fine <= coarse || complete || fine * 2 > columns)) continue;
      const CascadeShape shape = shape_of(curve, coarse, fine, columns, may_be_complete, bytes);
      if (!found || shape.cost < best.cost) {
        best = shape;
        found = true;
      }
    }
  }
  return best;
}

double cost_of_shape(const AliveCurve& curve, std::size_t coarse, std::size_t fine, std::size_t columns,
                     bool may_be_complete, bool bytes) {
  return shape_of(curve, coarse, fine, columns, may_be_complete, bytes).cost;
}

void shorten_projection(Projection& projection, std::size_t components) {
  if (components >= projection.components) return;
  projection.components = components;
  projection.with_rest = true;
  if (!projection.basis.empty()) {
    projection.basis = Array<float>(projection.basis.span().first(components * projection.columns));
  }
}

}  // namespace rthiss
