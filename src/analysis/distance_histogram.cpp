#include "analysis/distance_histogram.hpp"

#include <bit>
#include <cmath>

namespace rthiss {

namespace {
// The exponent and the first 7 bits of the significand of a double: consecutive numbers for consecutive bins.
constexpr int kDroppedBits = 52 - 7;
constexpr std::uint64_t kFirst = static_cast<std::uint64_t>(1023 + DistanceHistogram::kLeastExponent) << 7;
static_assert(std::size_t{1} << 7 == DistanceHistogram::kBinsPerOctave);
}  // namespace

std::size_t DistanceHistogram::bin_of(double squared) noexcept {
  if (!(squared < 0x1p32)) return kBins - 1;
  if (squared < 0x1p-96) return 0;
  return static_cast<std::size_t>((std::bit_cast<std::uint64_t>(squared) >> kDroppedBits) - kFirst) + 1;
}

double DistanceHistogram::distance_at(std::size_t bin, double part) noexcept {
  if (bin == 0) return 0.0;
  const auto edge = [](std::size_t b) {
    return std::bit_cast<double>((static_cast<std::uint64_t>(b - 1) + kFirst) << kDroppedBits);
  };
  const double low = edge(bin);
  return std::sqrt(low + part * (edge(bin + 1) - low));
}

}  // namespace rthiss
