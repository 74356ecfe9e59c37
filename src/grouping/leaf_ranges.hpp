#pragma once

#include <cstdint>

#include "common/host_device.hpp"

namespace rthiss {

/// Which positions each leaf of a balanced kd-tree covers: follows from the number of points alone, so that host and
/// device build the same tree without passing one another the splits. A node is a half-open range of leaves; its
/// children are [first, middle) and [middle, last).
class LeafRanges {
 public:
  /// 2^height leaves whose sizes differ by at most one; some are empty where there are fewer points. height <= 31.
  [[nodiscard]] RTHISS_HOST_DEVICE static constexpr LeafRanges of_height(std::uint64_t points, int height) {
    return LeafRanges(points, std::uint64_t{1} << height, height, 0);
  }
  /// Every leaf but the last holds exactly `leaf_size` >= 1 points.
  [[nodiscard]] RTHISS_HOST_DEVICE static constexpr LeafRanges of_leaf_size(std::uint64_t points,
                                                                            std::uint64_t leaf_size) {
    const std::uint64_t leaves = points / leaf_size + (points % leaf_size != 0);
    int height = 0;
    while ((std::uint64_t{1} << height) < leaves) ++height;
    return LeafRanges(points, leaves, height, leaf_size);
  }

  [[nodiscard]] RTHISS_HOST_DEVICE constexpr std::uint64_t leaves() const { return leaves_; }
  [[nodiscard]] RTHISS_HOST_DEVICE constexpr int height() const { return height_; }

  /// First position of a leaf; begin(leaves()) is the number of points.
  [[nodiscard]] RTHISS_HOST_DEVICE constexpr std::uint64_t begin(std::uint64_t leaf) const {
    if (leaf_size_ == 0) return (leaf * points_) >> height_;  // leaf <= 2^31, points < 2^32: no overflow
    return leaf >= leaves_ ? points_ : leaf * leaf_size_;
  }
  [[nodiscard]] RTHISS_HOST_DEVICE static constexpr std::uint64_t middle(std::uint64_t first, std::uint64_t last) {
    return first + (last - first + 1) / 2;
  }

 private:
  RTHISS_HOST_DEVICE constexpr LeafRanges(std::uint64_t points, std::uint64_t leaves, int height,
                                          std::uint64_t leaf_size)
      : points_(points), leaves_(leaves), leaf_size_(leaf_size), height_(height) {}

  std::uint64_t points_, leaves_;
  std::uint64_t leaf_size_;  ///< 0: sizes follow from the height
  int height_;
};

}  // namespace rthiss
