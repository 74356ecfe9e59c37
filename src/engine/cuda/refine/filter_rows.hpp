#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "engine/cuda/device_types.hpp"

namespace rthiss::cuda {

/// Rows of one side as the tensor cores read them, without ownership.
///
/// With t = scale (image - center), scale a power of two, a row is held as x = hi, or x = hi + lo: one or two numbers
/// of float16 for each column. Three numbers of float32 a row carry everything that the filter may be wrong by, so that
/// a tile needs no set-up of its own. For a point p and a query q the matrix units compute
///   s ~ start[p] + p.q,
/// and   s <  limit_out[q]             proves: no neighbours,
///       s >= limit_in[q] + shift[p]   proves: neighbours (the sum rounded up).
///
/// Proof. Let R and r be the radii of FilterLimits times `scale`, E the row's error |t - x| plus that of its image,
/// h = |x|^2 / 2, and g = g(row) the row's part of what the matrix units lose (below). Neighbours have
///   |p - q| <= R + E_p + E_q,  so  |p - q|^2 <= R^2 + 2 R (E_p + E_q) + 2 E_p^2 + 2 E_q^2,  so
///   p.q >= (h_p - R E_p - E_p^2) + (h_q - R E_q - E_q^2) - R^2 / 2.
/// start[p] = R^2/2 - (h_p - R E_p - E_p^2) + g_p and limit_out[q] = h_q - R E_q - E_q^2 - g_q, rounded outward, give
/// the first rule. Where p.q >= (h_p + r E_p) + (h_q + r E_q) - r^2 / 2 there is |p - q|^2 <= r^2 - 2 r (E_p + E_q),
/// which is at most (r - E_p - E_q)^2, with r >= E_p + E_q as a square is not negative: limit_in[q] = h_q + r E_q + g_q
/// and shift[p] = start[p] + h_p + r E_p - r^2 / 2 + g_p give the second.
///
/// Matrix units. Products of float16 are exact. What is assumed of the additions (not documented; held against exact
/// sums by matrix_units_test) is that the addends of a step are aligned to the largest and cut to 24 bits or more, then
/// normalised. Each of the K products and the running sums of at most K / 4 steps then loses at most 2^-23 of the
/// largest magnitude in sight, which is at most M = |start[p]| + sum |p_k q_k|; with a factor 4 in reserve the loss is
/// at most
///   4 K 2^-23 M,  M <= R^2/2 + h_p + R E_p + E_p^2 + g_p + 1.01 (h_p + h_q).
/// With two numbers a column the product lo.lo is left out: |lo_p| |lo_q| <= (|lo_p|^2 + |lo_q|^2) / 2. So
///   g = 4.4 K 2^-23 (R^2/2 + 2.02 h + R E + E^2) + 0.51 |lo|^2.
/// The numbers of a row that has no usable image leave all its pairs open; those of an ignored row reject all.
struct FilterRows {
  /// [padded / chunk planes x rows + 64 x chunk]: the columns of a chunk stand together, so that eight rows of one are
  /// read in one piece. Where split, the planes of hi and then those of lo.
  const __half* values = nullptr;
  const float* start = nullptr;  ///< [rows]
  const float* shift = nullptr;
  const float* limit_out = nullptr;
  const float* limit_in = nullptr;
  std::uint64_t plane = 0;   ///< elements of a plane
  std::uint32_t padded = 0;  ///< columns, padded with zeros to a multiple of `chunk`
  std::uint32_t chunk = 0;   ///< 16, or 32 above 16 columns
};

/// A number beyond every sum of the filter, and one beyond that.
inline constexpr float kFilterOpen = 1e30F;
inline constexpr float kFilterNever = 1e32F;

/// Owner of the rows of both sides.
class FilterData {
 public:
  FilterData(const DeviceTask& task, DeviceMemory& memory, Stream stream);

  [[nodiscard]] FilterRows points() const { return points_.view(*this); }
  [[nodiscard]] FilterRows queries() const { return self_join_ ? points() : queries_.view(*this); }
  /// Two numbers a column: one alone would leave too many pairs open.
  [[nodiscard]] bool split() const { return split_; }
  /// Chunks of a dot product; of split rows hi.hi, hi.lo and lo.hi.
  [[nodiscard]] std::uint32_t chunks() const { return points().padded / points().chunk * (split_ ? 3 : 1); }

 private:
  struct Side {
    DeviceArray<__half> values;
    DeviceArray<float> numbers;  // start, shift, limit_out, limit_in
    std::uint32_t rows = 0;
    [[nodiscard]] FilterRows view(const FilterData& owner) const;
  };
  void fill(const DeviceTask& task, const DeviceSet& set, const float* center, double scale, Side& side,
            double* error_sum, DeviceMemory& memory, Stream stream);

  Side points_, queries_;
  std::uint32_t padded_ = 0;
  bool self_join_ = false, split_ = false;
};

}  // namespace rthiss::cuda
