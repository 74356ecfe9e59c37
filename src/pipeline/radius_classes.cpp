#include "pipeline/radius_classes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace rthiss {

namespace {

constexpr double kClasses = 8;
/// Radii within this factor of one another are one class in any case.
constexpr double kLeastFactor = 1.25;

/// log2 of the radius as a Euclidean distance (under cosine metrics between unit vectors); steers only.
double size_of_ball(double value, Metric metric) {
  switch (metric.kind) {
    case Metric::Kind::kEuclidean:
      return std::log2(value);
    case Metric::Kind::kCosineDistance:
      return std::log2(std::sqrt(2.0 * value));
    case Metric::Kind::kCosineSimilarity:
      break;
  }
  return std::log2(std::sqrt(std::max(0.0, 2.0 - 2.0 * value)));
}

}  // namespace

std::vector<RadiusClass> divide_by_radius(std::span<const double> radii, std::span<const std::uint32_t> queries,
                                          Metric metric) {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  for (const std::uint32_t query : queries) {
    const double size = size_of_ball(radii[query], metric);
    if (!std::isfinite(size)) continue;
    least = std::min(least, size);
    most = std::max(most, size);
  }
  const double step = std::max(std::log2(kLeastFactor), (most - least) / kClasses);
  // Counted from the largest, so that radii in one factor are one class; radii of zero and infinite ones stand apart.
  std::map<double, RadiusClass> classes;
  const bool similarity = metric.kind == Metric::Kind::kCosineSimilarity;
  for (const std::uint32_t query : queries) {
    const double size = size_of_ball(radii[query], metric);
    const double key = std::isfinite(size) ? std::min(kClasses - 1, std::floor((most - size) / step)) : -size;
    const auto [place, fresh] = classes.try_emplace(key);
    RadiusClass& members = place->second;
    const bool looser = similarity ? radii[query] < members.radius : radii[query] > members.radius;
    if (fresh || looser) members.radius = radii[query];
    members.queries.push_back(query);
  }
  std::vector<RadiusClass> result;
  for (auto& [key, members] : classes) result.push_back(std::move(members));
  return result;
}

}  // namespace rthiss
