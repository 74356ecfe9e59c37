#include "analysis/sampled_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <unordered_set>

namespace rthiss {

namespace {

constexpr std::uint64_t kCenterRows = 256;

/// Uniform in [0, below) by rejection; the standard distributions differ from library to library.
std::uint64_t draw(std::mt19937_64& engine, std::uint64_t below) {
  const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % below;
  std::uint64_t value = engine();
  while (value >= limit) value = engine();
  return value % below;
}

}  // namespace

std::vector<std::uint32_t> sample_places(std::uint64_t all, std::uint64_t wanted, std::uint64_t seed) {
  std::vector<std::uint32_t> chosen;
  if (wanted >= all) {
    chosen.resize(all);
    std::iota(chosen.begin(), chosen.end(), 0U);
    return chosen;
  }
  // Floyd's sampling without replacement.
  std::mt19937_64 engine(seed);
  std::unordered_set<std::uint64_t> taken;
  for (std::uint64_t last = all - wanted; last < all; ++last) {
    const std::uint64_t place = draw(engine, last + 1);
    taken.insert(taken.contains(place) ? last : place);
  }
  chosen.assign(taken.begin(), taken.end());
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::uint32_t> sample_rows(const Dataset& data, std::uint64_t wanted, std::uint64_t seed) {
  const Array<std::uint32_t>& ignored = data.ignored_rows();
  std::vector<std::uint32_t> rows = sample_places(data.rows() - ignored.size(), wanted, seed);
  // From places among the usable rows to rows.
  std::size_t skipped = 0;
  for (std::uint32_t& place : rows) {
    while (skipped < ignored.size() && ignored[skipped] <= place + skipped) ++skipped;
    place += static_cast<std::uint32_t>(skipped);
  }
  return rows;
}

RowImage RowImage::choose(const Dataset& points, const Dataset& queries, bool cosine) {
  RowImage image;
  image.normalize = cosine;
  if (cosine) return image;
  const double largest = std::max(points.grid().max_abs, queries.grid().max_abs);
  if (largest > 0) image.scale = std::ldexp(1.0, std::clamp(-std::ilogb(largest) - 1, -1022, 1022));
  if (held_by_float(points.dtype()) && held_by_float(queries.dtype())) return image;
  image.center.assign(points.columns(), 0.0);
  const std::vector<std::uint32_t> rows = sample_rows(points, kCenterRows, 0);
  std::vector<double> row(points.columns());
  for (const std::uint32_t i : rows) {
    points.read_row(i, row.data());
    for (std::size_t j = 0; j < row.size(); ++j) {
      image.center[j] += row[j] * image.scale / static_cast<double>(rows.size());
    }
  }
  return image;
}

void RowImage::load(const Dataset& data, std::uint32_t i, double* out) const {
  data.read_row(i, out);
  const std::size_t d = data.columns();
  double factor = scale;
  if (normalize) {
    double largest = 0;
    for (std::size_t j = 0; j < d; ++j) largest = std::max(largest, std::abs(out[j]));
    const double power = std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1022, 1022));
    double sum = 0;
    for (std::size_t j = 0; j < d; ++j) {
      out[j] *= power;
      sum += out[j] * out[j];
    }
    factor = 1 / std::sqrt(sum);
  }
  for (std::size_t j = 0; j < d; ++j) out[j] = out[j] * factor - (center.empty() ? 0.0 : center[j]);
}

double RowImage::to_radius(double distance) const noexcept {
  return normalize ? std::min(2.0, distance * distance / 2) : distance / scale;
}

double RowImage::to_image_distance(double radius) const noexcept {
  return normalize ? std::sqrt(2 * radius) : radius * scale;
}

}  // namespace rthiss
