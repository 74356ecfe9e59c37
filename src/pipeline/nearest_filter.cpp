#include "pipeline/nearest_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/round_up_to.hpp"

namespace rthiss {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Covers the rounding of the bounds themselves, and pairs whose exact distances differ but round to the same double:
/// relative to a squared distance those are within 2^-50, of a squared chord (at most 4) within 2^-49.
constexpr double kSlack = 0x1p-46;
/// Outside of these, distances are near the subnormal numbers or round to infinity, and the relative slack does not
/// hold.
constexpr double kLeastDistance = 0x1p-900, kMostDistance = 0x1p900;

/// Rows between the one that is read and the one that is fetched.
constexpr std::size_t kAhead = 3;

void prefetch_row(const Dataset& data, std::uint32_t row) {
  const PointsView& view = data.view();
  const char* const begin = static_cast<const char*>(view.data) + static_cast<std::int64_t>(row) * view.row_stride;
  if (view.column_stride != static_cast<std::int64_t>(size_of(view.dtype))) return;
  for (std::size_t at = 0; at < view.columns * size_of(view.dtype); at += 64) __builtin_prefetch(begin + at);
}

std::size_t stride_of(std::size_t columns) { return round_up_to(columns, 64); }

}  // namespace

NearestFilter::Scratch::Scratch(std::size_t columns) : row(columns) {}

NearestFilter::NearestFilter(const Dataset& points, const Dataset& queries, Metric metric, double radius,
                             const ThreadPool& pool)
    : points_(points),
      queries_(queries),
      space_(FilterSpace::choose(points, &queries == &points ? nullptr : &queries,
                                 metric.kind != Metric::Kind::kEuclidean, radius, pool)) {}

float NearestFilter::load(const Dataset& data, std::uint32_t row, Array<float>& image, std::size_t place,
                          Scratch& scratch) const {
  const std::size_t columns = points_.columns();
  const std::size_t stride = stride_of(columns);
  float* const target = image.data() + place * stride;
  const float error = space_.load(data, row, target, scratch.row.data());
  std::fill(target + columns, target + stride, 0.0F);
  return error;
}

void NearestFilter::load_bytes(const Dataset& data, std::uint32_t row, std::uint8_t* bytes, Scratch& scratch) const {
  const std::size_t columns = points_.columns();
  const PointsView& view = data.view();
  if (view.dtype == DType::kUInt8 && view.column_stride == 1 && space_.scale == 1.0) {
    std::memcpy(bytes, static_cast<const char*>(view.data) + static_cast<std::int64_t>(row) * view.row_stride, columns);
  } else {
    (void)space_.load(data, row, scratch.points.data(), scratch.row.data());
    for (std::size_t k = 0; k < columns; ++k) bytes[k] = static_cast<std::uint8_t>(scratch.points[k]);
  }
  std::fill(bytes + columns, bytes + stride_of(columns), std::uint8_t{0});
}

void NearestFilter::note(Scratch& scratch, std::uint32_t id, double least, double most, std::size_t k) {
  scratch.reaches.push_back({least, id});
  if (scratch.farthest.size() == k) {
    if (!(most < scratch.farthest.front())) return;
    std::pop_heap(scratch.farthest.begin(), scratch.farthest.end());
    scratch.farthest.pop_back();
  }
  scratch.farthest.push_back(most);
  std::push_heap(scratch.farthest.begin(), scratch.farthest.end());
}

void NearestFilter::measure(std::span<const std::uint32_t> ids, float query_error, double limit, std::size_t k,
                            Scratch& scratch) const {
  const std::size_t columns = points_.columns();
  const std::size_t stride = stride_of(columns);
  for (std::size_t i = 0; i < ids.size(); ++i) scratch.pairs[i] = {0, static_cast<std::uint8_t>(i)};
  if (space_.bytes) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      // Candidates lie anywhere, and their rows are too short for the hardware to guess what comes.
      if (i + kAhead < ids.size()) prefetch_row(points_, ids[i + kAhead]);
      load_bytes(points_, ids[i], scratch.points_bytes.data() + i * stride, scratch);
    }
    simd::pair_distances(scratch.query_bytes.data(), scratch.points_bytes.data(), stride, scratch.pairs, ids.size(),
                         scratch.integer_sums);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const double sum = scratch.integer_sums[i];
      if (sum <= limit) note(scratch, ids[i], sum, sum, k);
    }
    return;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) prefetch_row(points_, ids[i + kAhead]);
    scratch.errors[i] = load(points_, ids[i], scratch.points, i, scratch);
  }
  // Sums are compared with the limit once more below: here it only ends those early that are far above it.
  const float early = limit < 0x1p120
                          ? std::nextafter(static_cast<float>(limit), std::numeric_limits<float>::infinity())
                          : std::numeric_limits<float>::infinity();
  simd::pair_distances(scratch.query.data(), scratch.points.data(), stride, scratch.pairs, ids.size(), stride, early,
                       scratch.sums);
  const double units = (static_cast<double>(stride) + 4.0) * 0x1p-24;
  const double relative = units / (1.0 - units);
  const double absolute = space_.no_underflow ? 0.0 : static_cast<double>(stride + 4) * 0x1p-148;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const double sum = scratch.sums[i];
    const double error = static_cast<double>(query_error) + static_cast<double>(scratch.errors[i]);
    // Rows too long for float32 sums, images that overflow and sums that are no number prove nothing.
    if (!(units < 0.5) || !(sum < 0x1p126) || !(error < 0x1p126)) {
      note(scratch, ids[i], 0.0, kInfinity, k);
      continue;
    }
    const double least = std::max(0.0, std::sqrt(std::max(0.0, sum - absolute) * (1.0 - relative)) - error);
    if (sum > static_cast<double>(early)) {
      // The sum may be unfinished: too small, which the lower bound allows.
      note(scratch, ids[i], least * least, kInfinity, k);
      continue;
    }
    const double most = std::sqrt((sum + absolute) * (1.0 + relative)) + error;
    note(scratch, ids[i], least * least, most * most, k);
  }
}

std::size_t NearestFilter::keep_near(std::uint32_t query, std::span<std::uint32_t> ids, std::size_t k,
                                     Scratch& scratch) const {
  const std::size_t stride = stride_of(points_.columns());
  if (space_.bytes && scratch.points_bytes.empty()) {
    scratch.query_bytes = Array<std::uint8_t>(stride);
    scratch.points_bytes = Array<std::uint8_t>(simd::kTileSide * stride);
    scratch.points = Array<float>(stride);
  } else if (!space_.bytes && scratch.points.empty()) {
    scratch.query = Array<float>(stride);
    scratch.points = Array<float>(simd::kTileSide * stride);
  }
  float query_error = 0.0F;
  if (space_.bytes) {
    load_bytes(queries_, query, scratch.query_bytes.data(), scratch);
  } else {
    query_error = load(queries_, query, scratch.query, 0, scratch);
  }
  scratch.farthest.clear();
  scratch.reaches.clear();
  // k of the exact squared distances are at most this.
  double limit = kInfinity;
  for (std::size_t begin = 0; begin < ids.size(); begin += simd::kTileSide) {
    measure(ids.subspan(begin, std::min(simd::kTileSide, ids.size() - begin)), query_error, limit, k, scratch);
    if (scratch.farthest.size() < k) continue;
    limit = scratch.farthest.front() * (1.0 + kSlack);
    if (space_.normalize) limit += 4.0 * kSlack;
  }
  const double distance = std::sqrt(limit) / space_.scale;
  if (!space_.bytes && !space_.normalize && !(distance > kLeastDistance && distance < kMostDistance)) return ids.size();
  std::size_t kept = 0;
  for (const Scratch::Reach& reach : scratch.reaches) {
    if (reach.least <= limit) ids[kept++] = reach.id;
  }
  return kept;
}

}  // namespace rthiss
