#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rthiss {

/// Numbers of squared distances by size: 128 bins for each power of two, so that a bin is 0.8 % wide (0.4 % in the
/// distance). Everything below 2^-96 counts as zero, everything from 2^32 as that: the caller scales.
class DistanceHistogram {
 public:
  static constexpr std::size_t kBinsPerOctave = 128;
  static constexpr int kLeastExponent = -96;
  static constexpr int kOctaves = 128;
  static constexpr std::size_t kBins = kOctaves * kBinsPerOctave + 2;  ///< zero at the front, "too large" at the back

  DistanceHistogram() : counts_(kBins, 0) {}

  /// NaN (of an overflow) counts as too large.
  void add(double squared) noexcept { ++counts_[bin_of(squared)]; }
  [[nodiscard]] std::uint32_t count(std::size_t bin) const noexcept { return counts_[bin]; }

  [[nodiscard]] static std::size_t bin_of(double squared) noexcept;
  /// Distance (not squared) at a place within a bin, `part` in [0, 1]; 0 in the first bin.
  [[nodiscard]] static double distance_at(std::size_t bin, double part) noexcept;

 private:
  std::vector<std::uint32_t> counts_;
};

}  // namespace rthiss
