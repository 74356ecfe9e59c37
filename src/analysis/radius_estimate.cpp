#include <rthiss/radius_estimate.hpp>

#include <fmt/format.h>
#include <rthiss/array.hpp>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>

#include "analysis/distance_histogram.hpp"
#include "analysis/sampled_rows.hpp"
#include "common/floating_point_scope.hpp"
#include "common/parallel.hpp"
#include "common/round_up_to.hpp"
#include "simd/tile.hpp"

namespace rthiss {

namespace {

constexpr double kStandardErrors = 1.96;
/// Rows of points that are loaded at a time: this many bytes.
constexpr std::size_t kBlockBytes = std::size_t{16} << 20;
/// Least queries of a task: what a tile of points is read from memory for.
constexpr std::size_t kQueryGrain = 32;
/// Pairs, whatever d: each costs an entry in a histogram.
constexpr double kMostPairs = 8e9;
/// float64 distances cost about this many times as much.
constexpr double kDoubleCost = 16;
/// float32 will do while the error of an image is below this part of the radius.
constexpr double kFloatTolerance = 1e-4;

/// What was sampled, and the distances of its pairs.
struct Measurement {
  std::vector<std::uint32_t> queries, points;
  std::vector<DistanceHistogram> histograms;  ///< [queries]
  std::vector<double> weights;                ///< [queries] neighbours that one counted distance stands for
  double largest_error = 0;                   ///< of an image, as a distance in the image space
};

class Estimator {
 public:
  Estimator(const PointsView& points, const PointsView* queries, const RadiusEstimateOptions& options,
            Observer* observer)
      : options_(options),
        observer_(observer),
        pool_(options.threads),
        cosine_(options.metric != Metric::Kind::kEuclidean),
        self_join_(queries == nullptr),
        points_(points, options.nonfinite, "points", pool_) {
    if (cosine_) points_.refuse_zero_rows(options.nonfinite, "points", pool_);
    if (queries != nullptr) {
      queries_.emplace(*queries, options.nonfinite, "queries", pool_);
      if (queries_->columns() != points_.columns()) {
        throw InvalidArgument(
            fmt::format("queries have {} columns, points have {}", queries_->columns(), points_.columns()));
      }
      if (cosine_) queries_->refuse_zero_rows(options.nonfinite, "queries", pool_);
    }
    check_selectivity();
    image_ = RowImage::choose(points_, queries_data(), cosine_);
  }

  [[nodiscard]] RadiusEstimate run() {
    Measurement measured = measure<float>(options_.operations);
    RadiusEstimate estimate = evaluate(measured);
    const double radius = to_image_distance(estimate.radius);
    if (measured.largest_error > 0 && measured.largest_error > kFloatTolerance * radius) {
      measured = measure<double>(options_.operations / kDoubleCost);
      estimate = evaluate(measured);
      estimate.in_double = true;
    }
    if (options_.curve) estimate.curve = curve_of(measured);
    return estimate;
  }

 private:
  [[nodiscard]] const Dataset& queries_data() const { return queries_ ? *queries_ : points_; }
  [[nodiscard]] static std::uint64_t usable(const Dataset& data) { return data.rows() - data.ignored_rows().size(); }
  /// Points that a usable query may have as neighbours.
  [[nodiscard]] double others() const {
    const std::uint64_t all = usable(points_);
    return static_cast<double>(self_join_ && all > 0 ? all - 1 : all);
  }
  /// Ignored queries have no neighbours and count in the mean all the same.
  [[nodiscard]] double wanted_mean(double selectivity) const {
    return selectivity * static_cast<double>(queries_data().rows()) / static_cast<double>(usable(queries_data()));
  }

  void check_selectivity() const {
    const double most = usable(queries_data()) == 0 ? 0 : others();
    if (options_.selectivity > 0 && most > 0 && wanted_mean(options_.selectivity) <= most) return;
    throw InvalidArgument(fmt::format("selectivity must be above 0 and at most the number of other rows, {}; not {}",
                                      most, options_.selectivity));
  }

  /// Distance in the image space to what the caller calls a radius, and back. Chord c of unit vectors: 1 - cos = c^2
  /// / 2.
  [[nodiscard]] double to_radius(double distance) const {
    return cosine_ ? std::min(2.0, distance * distance / 2) : distance / image_.scale;
  }
  [[nodiscard]] double to_image_distance(double radius) const {
    return cosine_ ? std::sqrt(2 * radius) : radius * image_.scale;
  }

  void stop_if_cancelled() const {
    if (observer_ != nullptr && observer_->cancelled()) throw Cancelled();
  }

  template <typename Real>
  [[nodiscard]] Measurement measure(double operations);
  [[nodiscard]] RadiusEstimate evaluate(const Measurement& measured) const;
  [[nodiscard]] double radius_of_mean(const std::vector<double>& means, double wanted) const;
  [[nodiscard]] std::vector<CurvePoint> curve_of(const Measurement& measured) const;

  const RadiusEstimateOptions& options_;
  Observer* observer_;
  ThreadPool pool_;
  bool cosine_, self_join_;
  Dataset points_;
  std::optional<Dataset> queries_;
  RowImage image_;
};

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
Measurement Estimator::measure(double operations) {
  const Dataset& query_data = queries_data();
  const double columns = static_cast<double>(points_.columns());
  Measurement measured;
  measured.queries = sample_rows(query_data, options_.sample_queries, options_.seed);
  const double pairs = std::min(kMostPairs, operations / columns);
  const auto most_points =
      static_cast<std::uint64_t>(std::max(1.0, pairs / static_cast<double>(measured.queries.size())));
  measured.points = sample_rows(points_, most_points, options_.seed + 1);
  measured.histograms.resize(measured.queries.size());
  for (const std::uint32_t query : measured.queries) {
    const bool met = self_join_ && std::binary_search(measured.points.begin(), measured.points.end(), query);
    const double seen = static_cast<double>(measured.points.size()) - (met ? 1 : 0);
    measured.weights.push_back(seen > 0 ? others() / seen : 0.0);
  }

  const std::size_t width = round_up_to(points_.columns(), 16);
  Array<Real> query_images(measured.queries.size() * width);
  measured.largest_error = load_images(query_data, image_, measured.queries, width, query_images.data(), pool_);
  const std::size_t block_rows = std::max<std::size_t>(64, kBlockBytes / (width * sizeof(Real)));
  Array<Real> block(std::min(block_rows, measured.points.size()) * width);
  for (std::size_t first = 0; first < measured.points.size(); first += block_rows) {
    const std::size_t count = std::min(block_rows, measured.points.size() - first);
    const std::span<const std::uint32_t> ids(measured.points.data() + first, count);
    measured.largest_error =
        std::max(measured.largest_error, load_images(points_, image_, ids, width, block.data(), pool_));
    pool_.for_ranges(0, measured.queries.size(), kQueryGrain, [&](std::size_t begin, std::size_t end) {
      std::array<Real, simd::kTileSide + simd::kPairPadding> squared;
      // A few points that stay in the cache, by all queries of the range.
      for (std::size_t tile = 0; tile < count; tile += simd::kTileSide) {
        stop_if_cancelled();
        const std::size_t side = std::min(simd::kTileSide, count - tile);
        for (std::size_t q = begin; q < end; ++q) {
          squared_distances(query_images.data() + q * width, block.data() + tile * width, width, side, squared.data());
          const std::uint32_t own = self_join_ ? measured.queries[q] : ~std::uint32_t{0};
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

/// Bins in which any query has a distance; most are empty, and looking through them for every query takes long.
std::vector<bool> used_bins(const Measurement& measured) {
  std::vector<bool> used(DistanceHistogram::kBins, false);
  for (const DistanceHistogram& histogram : measured.histograms) {
    for (std::size_t bin = 0; bin < used.size(); ++bin) {
      if (histogram.count(bin) != 0) used[bin] = true;
    }
  }
  return used;
}

/// Mean number of neighbours up to the end of each bin -> the distance at which it reaches `wanted`.
double Estimator::radius_of_mean(const std::vector<double>& means, double wanted) const {
  // Sums of many weights may miss the last pair by a rounding.
  const double reachable = std::min(wanted * (1 - 1e-12), means.back());
  const auto place = std::lower_bound(means.begin(), means.end(), reachable);
  const auto bin = static_cast<std::size_t>(place - means.begin());
  const double before = bin == 0 ? 0.0 : means[bin - 1];
  const double inside = *place - before;
  const double part = inside > 0 ? std::clamp((wanted - before) / inside, 0.0, 1.0) : 1.0;
  return to_radius(DistanceHistogram::distance_at(bin, part));
}

RadiusEstimate Estimator::evaluate(const Measurement& measured) const {
  const double count = static_cast<double>(measured.queries.size());
  const double population = static_cast<double>(usable(queries_data()));
  const bool all_points = measured.points.size() == usable(points_);
  // Without replacement: nothing is left to chance once all queries are in the sample.
  const double correction = all_points ? std::sqrt(std::max(0.0, 1 - count / population)) : 1.0;
  std::vector<double> means(DistanceHistogram::kBins), lows(means.size()), highs(means.size());
  std::vector<double> so_far(measured.queries.size(), 0.0);
  const std::vector<bool> used = used_bins(measured);
  for (std::size_t bin = 0; bin < means.size(); ++bin) {
    if (bin > 0 && !used[bin]) {
      means[bin] = means[bin - 1];
      lows[bin] = lows[bin - 1];
      highs[bin] = highs[bin - 1];
      continue;
    }
    double sum = 0, squares = 0;
    for (std::size_t q = 0; q < so_far.size(); ++q) {
      so_far[q] += measured.weights[q] * measured.histograms[q].count(bin);
      sum += so_far[q];
    }
    const double mean = sum / count;
    for (const double value : so_far) squares += (value - mean) * (value - mean);
    const double error = count > 1 ? std::sqrt(squares / (count - 1) / count) * correction : mean;
    means[bin] = mean;
    lows[bin] = mean - kStandardErrors * error;
    highs[bin] = mean + kStandardErrors * error;
  }
  // The bounds need not rise everywhere; the first radius that reaches the mean is what counts.
  std::partial_sum(lows.begin(), lows.end(), lows.begin(), [](double a, double b) { return std::max(a, b); });
  std::partial_sum(highs.begin(), highs.end(), highs.begin(), [](double a, double b) { return std::max(a, b); });
  const double wanted = wanted_mean(options_.selectivity);
  RadiusEstimate estimate;
  estimate.sampled_queries = measured.queries.size();
  estimate.sampled_points = measured.points.size();
  estimate.radius = radius_of_mean(means, wanted);
  estimate.low = std::min(estimate.radius, radius_of_mean(highs, wanted));
  estimate.high = std::max(estimate.radius, radius_of_mean(lows, wanted));
  return estimate;
}

std::vector<CurvePoint> Estimator::curve_of(const Measurement& measured) const {
  std::vector<std::uint64_t> steps;
  for (std::uint64_t power = 1; static_cast<double>(power) <= others(); power *= 10) {
    for (const std::uint64_t factor : {1, 2, 5}) {
      if (static_cast<double>(power * factor) <= others()) steps.push_back(power * factor);
    }
  }
  std::vector<double> means(DistanceHistogram::kBins, 0.0);
  std::vector<std::vector<double>> distances(steps.size());  // [steps][queries]
  for (std::size_t q = 0; q < measured.queries.size(); ++q) {
    double so_far = 0;
    std::size_t step = 0;
    for (std::size_t bin = 0; bin < means.size(); ++bin) {
      const double inside = measured.weights[q] * measured.histograms[q].count(bin);
      for (; step < steps.size() && static_cast<double>(steps[step]) <= (so_far + inside) * (1 + 1e-12); ++step) {
        const double part = inside > 0 ? (static_cast<double>(steps[step]) - so_far) / inside : 1.0;
        distances[step].push_back(to_radius(DistanceHistogram::distance_at(bin, std::min(1.0, part))));
      }
      so_far += inside;
      means[bin] += so_far;
    }
  }
  for (double& mean : means) mean /= static_cast<double>(measured.queries.size());
  std::vector<CurvePoint> curve;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    std::vector<double>& sorted = distances[step];
    if (sorted.empty()) continue;
    std::sort(sorted.begin(), sorted.end());
    const auto quantile = [&sorted](double part) {
      return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
    };
    curve.push_back({steps[step], radius_of_mean(means, static_cast<double>(steps[step])), quantile(0.1), quantile(0.5),
                     quantile(0.9)});
  }
  return curve;
}

}  // namespace

RadiusEstimate estimate_radius(const PointsView& points, const PointsView* queries,
                               const RadiusEstimateOptions& options, Observer* observer) {
  const FloatingPointScope scope;
  return Estimator(points, queries, options, observer).run();
}

}  // namespace rthiss
