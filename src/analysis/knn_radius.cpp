#include "analysis/knn_radius.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace rthiss {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// After so many radii everything is searched.
constexpr int kMostRounds = 16;
/// Queries of a sample.
constexpr double kLeastQueries = 32, kMostQueries = 256;
/// Products of sampled queries, points and columns: this part of those of all pairs, within these ends.
constexpr double kSampledPart = 0.02, kLeastOperations = 2e7, kMostOperations = 2e9;
/// Candidates of a query that are worth having in a search: this many times k, and some.
constexpr double kCandidatesOfK = 4, kMoreCandidates = 64;
/// A round finishes at least this part of the queries, if the sample is right.
constexpr double kLeastPart = 0.5;
constexpr double kParts[] = {0.7, 0.8, 0.9, 0.95, 0.98, 1.0};
/// Where the sampled distances are too small to be told apart.
constexpr double kLeastDistance = 0x1p-48;

/// The bin in which the k-th neighbour lies.
std::size_t bin_of_neighbor(const DistanceHistogram& histogram, double weight, double k) {
  double so_far = 0;
  for (std::size_t bin = 0; bin < DistanceHistogram::kBins; ++bin) {
    so_far += weight * histogram.count(bin);
    if (so_far * (1 + 1e-9) >= k) return bin;
  }
  return DistanceHistogram::kBins - 1;
}

/// Mean neighbours of the sampled queries up to the end of a bin.
double mean_neighbors(const SampledDistances& measured, std::size_t last_bin) {
  double sum = 0;
  for (std::size_t q = 0; q < measured.queries.size(); ++q) {
    std::uint64_t count = 0;
    for (std::size_t bin = 0; bin <= last_bin; ++bin) count += measured.histograms[q].count(bin);
    sum += measured.weights[q] * static_cast<double>(count);
  }
  return sum / static_cast<double>(measured.queries.size());
}

}  // namespace

KnnRadius::KnnRadius(const DistanceSampling& sampling, std::uint64_t k, Metric metric)
    : sampling_(sampling), k_(static_cast<double>(k)), metric_(metric) {}

SampledDistances KnnRadius::sample(std::span<const std::uint32_t> left, bool in_double) const {
  DistanceSampling sampling = sampling_;
  sampling.seed += static_cast<std::uint64_t>(rounds_);
  const double row =
      static_cast<double>(usable_rows(*sampling.points)) * static_cast<double>(sampling.points->columns());
  sampling.operations =
      std::clamp(kSampledPart * row * static_cast<double>(left.size()), kLeastOperations, kMostOperations);
  double wanted = std::clamp(sampling.operations / row, kLeastQueries, kMostQueries);
  if (in_double) {
    // float64 has a sixteenth of the operations: rather fewer queries than fewer points.
    sampling.operations *= 2;
    wanted = std::ceil(wanted / 8);
  }
  std::vector<std::uint32_t> queries = sample_places(left.size(), static_cast<std::uint64_t>(wanted), sampling.seed);
  for (std::uint32_t& query : queries) query = left[query];
  return sample_distances(sampling, std::move(queries), in_double);
}

double KnnRadius::image_radius(std::span<const std::uint32_t> left) {
  SampledDistances measured = sample(left, false);
  std::vector<std::size_t> bins;
  const auto find_bins = [&] {
    bins.clear();
    for (std::size_t q = 0; q < measured.queries.size(); ++q) {
      bins.push_back(bin_of_neighbor(measured.histograms[q], measured.weights[q], k_));
    }
    std::sort(bins.begin(), bins.end());
  };
  const auto bin_at = [&](double part) {
    const double place = std::ceil(part * static_cast<double>(bins.size())) - 1;
    return bins[static_cast<std::size_t>(std::max(0.0, place))];
  };
  find_bins();
  if (measured.needs_double(DistanceHistogram::distance_at(bin_at(kLeastPart), 1.0))) {
    measured = sample(left, true);
    find_bins();
  }
  // The fewer are left, the more each of them may cost.
  const double limit =
      (kCandidatesOfK * k_ + kMoreCandidates) * std::max(1.0, first_left_ / static_cast<double>(left.size()));
  std::size_t bin = bin_at(kLeastPart);
  for (const double part : kParts) {
    if (mean_neighbors(measured, bin_at(part)) > limit) break;
    bin = bin_at(part);
  }
  if (bin == DistanceHistogram::kBins - 1) return kInfinity;
  return DistanceHistogram::distance_at(bin, 1.0) * (1 + 0x1p-20) + 2 * measured.largest_error;
}

double KnnRadius::next(std::span<const std::uint32_t> left) {
  if (rounds_ == 0) first_left_ = static_cast<double>(left.size());
  double radius = kInfinity;
  if (rounds_ < kMostRounds) {
    radius = image_radius(left);
    if (radius <= image_radius_) radius = std::max(1.5 * image_radius_, kLeastDistance);
  }
  ++rounds_;
  image_radius_ = radius;
  const bool all = std::isinf(radius);
  switch (metric_.kind) {
    case Metric::Kind::kEuclidean:
      return all ? kInfinity : sampling_.image->to_radius(radius);
    case Metric::Kind::kCosineDistance:
      return all ? 2.0 : sampling_.image->to_radius(radius);
    case Metric::Kind::kCosineSimilarity:
      break;
  }
  return all ? -1.0 : 1.0 - sampling_.image->to_radius(radius);
}

}  // namespace rthiss
