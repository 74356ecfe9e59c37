#include <rthiss/radius_estimate.hpp>

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "analysis/distance_histogram.hpp"
#include "analysis/sampled_distances.hpp"
#include "analysis/sampled_rows.hpp"
#include "common/floating_point_scope.hpp"
#include "common/parallel.hpp"

namespace rthiss {

namespace {

constexpr double kStandardErrors = 1.96;

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
    DistanceSampling sampling{&points_, &queries_data(), self_join_, &image_, &pool_, observer_};
    sampling.operations = options_.operations;
    sampling.seed = options_.seed;
    const std::vector<std::uint32_t> rows = sample_rows(queries_data(), options_.sample_queries, options_.seed);
    SampledDistances measured = sample_distances(sampling, rows, false);
    RadiusEstimate estimate = evaluate(measured);
    if (measured.needs_double(image_.to_image_distance(estimate.radius))) {
      measured = sample_distances(sampling, rows, true);
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

  [[nodiscard]] RadiusEstimate evaluate(const SampledDistances& measured) const;
  [[nodiscard]] double radius_of_mean(const std::vector<double>& means, double wanted) const;
  [[nodiscard]] std::vector<CurvePoint> curve_of(const SampledDistances& measured) const;

  const RadiusEstimateOptions& options_;
  Observer* observer_;
  ThreadPool pool_;
  bool cosine_, self_join_;
  Dataset points_;
  std::optional<Dataset> queries_;
  RowImage image_;
};

/// Bins in which any query has a distance; most are empty, and looking through them for every query takes long.
std::vector<bool> used_bins(const SampledDistances& measured) {
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
  return image_.to_radius(DistanceHistogram::distance_at(bin, part));
}

RadiusEstimate Estimator::evaluate(const SampledDistances& measured) const {
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

std::vector<CurvePoint> Estimator::curve_of(const SampledDistances& measured) const {
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
        distances[step].push_back(image_.to_radius(DistanceHistogram::distance_at(bin, std::min(1.0, part))));
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
