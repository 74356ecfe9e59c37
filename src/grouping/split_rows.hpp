#pragma once

#include <rthiss/array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace rthiss {

/// Rows of the values that take part in splits, `width` floats each; `width` is 4, 8 or a multiple of 16.
struct SplitRows {
  const float* values = nullptr;
  std::size_t width = 0;
  std::size_t components = 0;  ///< the rest of a row is padding

  [[nodiscard]] const float* row(std::size_t i) const noexcept { return values + i * width; }

  [[nodiscard]] static std::size_t padded_width(std::size_t components) noexcept {
    if (components <= 4) return 4;
    if (components <= 8) return 8;
    return (components + 15) / 16 * 16;
  }
};

/// Least and greatest value of every component; `low` and `high` hold `width` floats.
struct SplitExtent {
  explicit SplitExtent(std::size_t width) : low(width), high(width) { reset(); }

  void reset() {
    for (float& value : low) value = std::numeric_limits<float>::infinity();
    for (float& value : high) value = -std::numeric_limits<float>::infinity();
  }

  void add(const SplitRows& rows, const std::uint32_t* ids, std::size_t count) {
    if (rows.width == 4) return add_columns<4>(rows, ids, count, 0);
    if (rows.width == 8) return add_columns<8>(rows, ids, count, 0);
    for (std::size_t column = 0; column < rows.width; column += 16) add_columns<16>(rows, ids, count, column);
  }

  void add(const SplitExtent& other) {
    for (std::size_t c = 0; c < low.size(); ++c) {
      low[c] = std::min(low[c], other.low[c]);
      high[c] = std::max(high[c], other.high[c]);
    }
  }

  /// The first of the components with the widest range.
  [[nodiscard]] std::size_t widest(std::size_t components) const {
    std::size_t best = 0;
    for (std::size_t c = 1; c < components; ++c) {
      if (high[c] - low[c] > high[best] - low[best]) best = c;
    }
    return best;
  }

  Array<float> low, high;

 private:
  template <std::size_t kColumns>
  void add_columns(const SplitRows& rows, const std::uint32_t* ids, std::size_t count, std::size_t column) {
    float least[kColumns], greatest[kColumns];  // local, so that they stay in registers
    std::copy_n(&low[column], kColumns, least);
    std::copy_n(&high[column], kColumns, greatest);
    for (std::size_t i = 0; i < count; ++i) {
      const float* row = rows.row(ids[i]) + column;
      for (std::size_t c = 0; c < kColumns; ++c) {
        least[c] = row[c] < least[c] ? row[c] : least[c];
        greatest[c] = row[c] > greatest[c] ? row[c] : greatest[c];
      }
    }
    std::copy_n(least, kColumns, &low[column]);
    std::copy_n(greatest, kColumns, &high[column]);
  }
};

}  // namespace rthiss
