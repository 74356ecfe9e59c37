#include "analysis/sampled_distances.hpp"

#include <rthiss/array.hpp>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/round_up_to.hpp"
#include "simd/tile.hpp"

namespace rthiss {

namespace {

/// Rows of points that are loaded at a time: this many bytes.
constexpr std::size_t kBlockBytes = std::size_t{16} << 20;
/// Least queries of a task: what a tile of points is read from memory for.
constexpr std::size_t kQueryGrain = 32;
/// Pairs, whatever d: each costs an entry in a histogram.
constexpr double kMostPairs = 8e9;
/// float64 distances cost about this many times as much.
constexpr double kDoubleCost = 16;
/// float32 will do while the error of an image is below this part of the distance.
constexpr double kFloatTolerance = 1e-4;

/// Images of rows, row-major with a stride of `width`, padding zero. Returns the largest error of an image.
template <typename Real>
double load_images(const Dataset& data, const RowImage& image, std::span<const std::uint32_t> rows, std::size_t width,
                   Real* out, const ThreadPool& pool) {
  std::atomic<double> largest{0.0};
  pool.for_ranges(0, rows.size(), 64, [&](std::size_t begin, std::size_t end) {
    std::vector<double> row(data.columns());
    double largest_here = 0;
    for (std::size_t i = begin; i < end; ++i) {
      image.load(data, rows[i], row.data());
      double error = 0;
      Real* const target = out + i * width;
      for (std::size_t j = 0; j < row.size(); ++j) {
        target[j] = static_cast<Real>(row[j]);
        const double off = static_cast<double>(target[j]) - row[j];
        error += off * off;
      }
      std::fill(target + row.size(), target + width, Real{0});
      largest_here = std::max(largest_here, std::sqrt(error));
    }
    double before = largest.load();
    while (before < largest_here && !largest.compare_exchange_weak(before, largest_here)) {
    }
  });
  return largest.load();
}

/// out[i] = |x - row i of `base`|^2 for up to kTileSide rows of `width` values, a multiple of 16. `out` has room for
/// kPairPadding more.
void squared_distances(const float* x, const float* base, std::size_t width, std::size_t count, float* out) {
  std::array<simd::TilePair, simd::kTileSide + simd::kPairPadding> pairs;
  for (std::size_t p = 0; p < count; ++p) pairs[p] = {0, static_cast<std::uint8_t>(p)};
  simd::pair_distances(x, base, width, pairs.data(), count, width, HUGE_VALF, out);
}

void squared_distances(const double* x, const double* base, std::size_t width, std::size_t count, double* out) {
  constexpr std::size_t kLanes = 8;  // sums that do not wait for one another
  for (std::size_t i = 0; i < count; ++i) {
    const double* const y = base + i * width;
    double sums[kLanes] = {};
    for (std::size_t j = 0; j < width; j += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        const double difference = x[j + l] - y[j + l];
        sums[l] += difference * difference;
      }
    }
    out[i] = std::accumulate(std::begin(sums), std::end(sums), 0.0);
  }
}

template <typename Real>
SampledDistances measure(const DistanceSampling& sampling, std::vector<std::uint32_t> queries, double operations) {
  const Dataset& points = *sampling.points;
  const double columns = static_cast<double>(points.columns());
  const double others =
      static_cast<double>(usable_rows(points)) - (sampling.self_join && usable_rows(points) > 0 ? 1 : 0);
  SampledDistances measured;
  measured.queries = std::move(queries);
  const double pairs = std::min(kMostPairs, operations / columns);
  const auto most_points =
      static_cast<std::uint64_t>(std::max(1.0, pairs / static_cast<double>(measured.queries.size())));
  measured.points = sample_rows(points, most_points, sampling.seed + 1);
  measured.histograms.resize(measured.queries.size());
  for (const std::uint32_t query : measured.queries) {
    const bool met = sampling.self_join && std::binary_search(measured.points.begin(), measured.points.end(), query);
    const double seen = static_cast<double>(measured.points.size()) - (met ? 1 : 0);
    measured.weights.push_back(seen > 0 ? others / seen : 0.0);
  }

  const std::size_t width = round_up_to(points.columns(), 16);
  Array<Real> query_images(measured.queries.size() * width);
  measured.largest_error =
      load_images(*sampling.queries, *sampling.image, measured.queries, width, query_images.data(), *sampling.pool);
  const std::size_t block_rows = std::max<std::size_t>(64, kBlockBytes / (width * sizeof(Real)));
  Array<Real> block(std::min(block_rows, measured.points.size()) * width);
  for (std::size_t first = 0; first < measured.points.size(); first += block_rows) {
    const std::size_t count = std::min(block_rows, measured.points.size() - first);
    const std::span<const std::uint32_t> ids(measured.points.data() + first, count);
    measured.largest_error = std::max(measured.largest_error,
                                      load_images(points, *sampling.image, ids, width, block.data(), *sampling.pool));
    sampling.pool->for_ranges(0, measured.queries.size(), kQueryGrain, [&](std::size_t begin, std::size_t end) {
      std::array<Real, simd::kTileSide + simd::kPairPadding> squared;
      // A few points that stay in the cache, by all queries of the range.
      for (std::size_t tile = 0; tile < count; tile += simd::kTileSide) {
        if (sampling.observer != nullptr && sampling.observer->cancelled()) throw Cancelled();
        const std::size_t side = std::min(simd::kTileSide, count - tile);
        for (std::size_t q = begin; q < end; ++q) {
          squared_distances(query_images.data() + q * width, block.data() + tile * width, width, side, squared.data());
          const std::uint32_t own = sampling.self_join ? measured.queries[q] : ~std::uint32_t{0};
          DistanceHistogram& histogram = measured.histograms[q];
          for (std::size_t i = 0; i < side; ++i) {
            if (ids[tile + i] != own) histogram.add(static_cast<double>(squared[i]));
          }
        }
      }
    });
  }
  return measured;
}

}  // namespace

bool SampledDistances::needs_double(double image_distance) const noexcept {
  return largest_error > 0 && largest_error > kFloatTolerance * image_distance;
}

std::uint64_t usable_rows(const Dataset& data) noexcept { return data.rows() - data.ignored_rows().size(); }

SampledDistances sample_distances(const DistanceSampling& sampling, std::vector<std::uint32_t> queries,
                                  bool in_double) {
  if (in_double) return measure<double>(sampling, std::move(queries), sampling.operations / kDoubleCost);
  return measure<float>(sampling, std::move(queries), sampling.operations);
}

}  // namespace rthiss
