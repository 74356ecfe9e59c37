#include "pipeline/nearest_picker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "distance/pair_sums.hpp"

namespace rthiss {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Sums of squares in here neither overflow, nor does what underflows matter beside them.
bool in_range(double square) { return square >= 0x1p-690 && square <= 0x1p890; }

}  // namespace

NearestPicker::NearestPicker(const Dataset& points, Metric metric, const ValueGrid& grid)
    : points_(points),
      kind_(metric.kind),
      // The radius does not matter for values.
      decider_(make_pair_decider(metric, metric.kind == Metric::Kind::kCosineSimilarity ? 1.0 : 0.0, points.columns(),
                                 grid)) {}

double NearestPicker::approximate(const double* x, const double* y) const {
  if (kind_ == Metric::Kind::kEuclidean) {
    const double sum = squared_distance(x, y, points_.columns());
    return sum == 0.0 || in_range(sum) ? sum : kNaN;
  }
  const CosineSums<double> sums = cosine_sums(x, y, points_.columns());
  if (!in_range(sums.xx) || !in_range(sums.yy)) return kNaN;
  return -sums.xy / (std::sqrt(sums.xx) * std::sqrt(sums.yy));
}

// Let r be the bound on an approximation's error. The k smallest approximations are at most kth, so k exact values, and
// with them the k-th smallest exact value, are at most kth + r. Another value rounds to the same double, and may come
// first by its id, if it is larger by no more than an ulp or two of the distance. Its approximation is larger by r
// again.
double NearestPicker::with_slack(double kth) const {
  const double columns = static_cast<double>(points_.columns());
  // Sums of squares: r = (d + 3) u relative, to first order, and two ulps of a distance are 4 u (2 u each) of the sum,
  // twice that relative to its square. (An exact zero has the approximation 0; a sum that underflowed to 0 is possible
  // only beside sums below the range, which have none.)
  if (kind_ == Metric::Kind::kEuclidean) return kth * (1.0 + (columns + 16.0) * 0x1p-51);
  // Cosines: r = (2 d + 8) u absolute, to first order, and ulps of a value of at most 2 are at most 2^-52 = 2 u.
  return kth + (columns + 16.0) * 0x1p-50;
}

void NearestPicker::pick(const double* x, std::span<std::uint32_t> ids, std::size_t k, Scratch& scratch) const {
  scratch.row.resize(points_.columns());
  scratch.approximations.resize(ids.size());
  bool usable = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    points_.read_row(ids[i], scratch.row.data());
    const double approximation = approximate(x, scratch.row.data());
    scratch.approximations[i] = approximation;
    usable = usable && !std::isnan(approximation);
  }
  double limit = kInfinity;
  if (usable) {
    scratch.sorted = scratch.approximations;
    const auto kth = scratch.sorted.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(scratch.sorted.begin(), kth, scratch.sorted.end());
    limit = with_slack(*kth);
  }
  scratch.candidates.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (usable && scratch.approximations[i] > limit) continue;
    scratch.candidates.push_back({0.0, ids[i]});
  }
  if (scratch.candidates.size() > k) {
    for (Candidate& candidate : scratch.candidates) {
      points_.read_row(candidate.id, scratch.row.data());
      const double exact = value(x, scratch.row.data());
      candidate.key = kind_ == Metric::Kind::kCosineSimilarity ? -exact : exact;
    }
    const auto end = scratch.candidates.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(scratch.candidates.begin(), end - 1, scratch.candidates.end());
  }
  for (std::size_t i = 0; i < k; ++i) ids[i] = scratch.candidates[i].id;
  std::sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k));
}

}  // namespace rthiss
