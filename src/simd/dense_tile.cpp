#include "simd/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/dense_tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kStripColumns>;
using V = hn::Vec<D>;

HWY_INLINE std::uint64_t mask_bits(D d, hn::Mask<D> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t bits;
  hwy::CopyBytes<8>(bytes, &bits);
  return bits;
}

// Vectors of columns that are worked on together: kBlockRows x kMaxParts sums in 24 of AVX-512's 32 registers, or 12
// of 16.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kMaxParts = 4;
#else
constexpr std::size_t kMaxParts = 2;
#endif

/// kBlockRows rows with the vectors of columns that start at `columns`.
template <bool kSure, std::size_t kParts>
HWY_INLINE void product_block(const float* HWY_RESTRICT x, std::size_t ldx, const float* HWY_RESTRICT y,
                              std::size_t width, const DenseLimits& limits, const std::uint8_t* rows,
                              const std::size_t* columns, std::uint64_t* maybe, std::uint64_t* sure,
                              std::uint64_t& found) {
  const D d;
  V acc[kBlockRows][kParts];
  const float* HWY_RESTRICT row[kBlockRows];
  for (std::size_t r = 0; r < kBlockRows; ++r) row[r] = x + rows[r] * ldx;
  for (std::size_t p = 0; p < kParts; ++p) {
    const V bias = hn::Neg(hn::LoadU(d, limits.half_norms + columns[p]));
    for (std::size_t r = 0; r < kBlockRows; ++r) acc[r][p] = bias;
  }
  for (std::size_t k = 0; k < width; ++k) {
    V values[kParts];
    for (std::size_t p = 0; p < kParts; ++p) values[p] = hn::LoadU(d, y + k * kTileSide + columns[p]);
    for (std::size_t r = 0; r < kBlockRows; ++r) {
      const V value = hn::Set(d, row[r][k]);
      for (std::size_t p = 0; p < kParts; ++p) acc[r][p] = hn::MulAdd(value, values[p], acc[r][p]);
    }
  }
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    const V out = hn::Set(d, limits.out_limit[rows[r]]);
    hn::Mask<D> below[kParts];
    for (std::size_t p = 0; p < kParts; ++p) below[p] = hn::Lt(acc[r][p], out);
    hn::Mask<D> all_below = below[0];
    for (std::size_t p = 1; p < kParts; ++p) all_below = hn::And(all_below, below[p]);
    if (hn::AllTrue(d, all_below)) continue;
    std::uint64_t bits = 0;
    for (std::size_t p = 0; p < kParts; ++p) bits |= mask_bits(d, hn::Not(below[p])) << columns[p];
    // A row may come twice: for several vectors of columns, or to fill up the last block.
    const std::uint64_t row_bit = std::uint64_t{1} << rows[r];
    if ((found & row_bit) == 0) maybe[rows[r]] = sure[rows[r]] = 0;
    found |= row_bit;
    maybe[rows[r]] |= bits;
    if constexpr (kSure) {
      const V in = hn::Set(d, limits.in_limit[rows[r]]);
      const V rest = hn::Set(d, limits.row_rests[rows[r]]);
      bits = 0;
      for (std::size_t p = 0; p < kParts; ++p) {
        const V rests = hn::LoadU(d, limits.column_rests + columns[p]);
        bits |= mask_bits(d, hn::Ge(hn::NegMulAdd(rest, rests, acc[r][p]), in)) << columns[p];
      }
      sure[rows[r]] |= bits;
    }
  }
}

template <bool kSure>
HWY_INLINE void product_blocks(std::size_t parts, const float* x, std::size_t ldx, const float* y, std::size_t width,
                               const DenseLimits& limits, const std::uint8_t* rows, const std::size_t* columns,
                               std::uint64_t* maybe, std::uint64_t* sure, std::uint64_t& found) {
  std::size_t p = 0;
  for (; p + kMaxParts <= parts; p += kMaxParts) {
    product_block<kSure, kMaxParts>(x, ldx, y, width, limits, rows, columns + p, maybe, sure, found);
  }
  if constexpr (kMaxParts == 4) {
    if (parts - p == 3) return product_block<kSure, 3>(x, ldx, y, width, limits, rows, columns + p, maybe, sure, found);
    if (parts - p == 2) return product_block<kSure, 2>(x, ldx, y, width, limits, rows, columns + p, maybe, sure, found);
  }
  if (p < parts) product_block<kSure, 1>(x, ldx, y, width, limits, rows, columns + p, maybe, sure, found);
}

/// Rows by which strips they are near, so that those of a block mostly agree; returns how many are near any.
HWY_INLINE std::size_t order_rows(const std::uint64_t* near, std::uint8_t* rows, std::uint8_t* strips) {
  std::size_t count = 0;
  const std::uint64_t any = near[0] | near[1] | near[2] | near[3];
  for (unsigned wanted = (1U << kStrips) - 1; wanted != 0; --wanted) {
    std::uint64_t bits = any;
    for (std::size_t s = 0; s < kStrips; ++s) bits &= ((wanted >> s) & 1) != 0 ? near[s] : ~near[s];
    for (; bits != 0; bits &= bits - 1) {
      rows[count] = static_cast<std::uint8_t>(hwy::Num0BitsBelowLS1Bit_Nonzero64(bits));
      strips[count++] = static_cast<std::uint8_t>(wanted);
    }
  }
  return count;
}

template <bool kSure>
HWY_INLINE std::uint64_t product_tile(const float* x, std::size_t ldx, const float* y, std::size_t width,
                                      const std::uint64_t* near, const DenseLimits& limits, std::uint64_t* maybe,
                                      std::uint64_t* sure) {
  static_assert(kStrips == 4);
  std::uint64_t found = 0;
  std::uint8_t rows[kTileSide + kBlockRows], strips[kTileSide + kBlockRows];
  const std::size_t count = order_rows(near, rows, strips);
  if (count == 0) return 0;
  // The last block takes a row several times: its bits are only set again.
  for (std::size_t i = 0; i < kBlockRows; ++i) {
    rows[count + i] = rows[count - 1];
    strips[count + i] = 0;
  }
  for (std::size_t r = 0; r < count; r += kBlockRows) {
    unsigned together = 0;
    for (std::size_t i = 0; i < kBlockRows; ++i) together |= strips[r + i];
    std::size_t columns[kTileSide];
    std::size_t parts = 0;
    for (std::size_t s = 0; s < kStrips; ++s) {
      if (((together >> s) & 1) == 0) continue;
      for (std::size_t c = 0; c < kStripColumns; c += hn::Lanes(D())) columns[parts++] = s * kStripColumns + c;
    }
    product_blocks<kSure>(parts, x, ldx, y, width, limits, rows + r, columns, maybe, sure, found);
  }
  return found;
}

HWY_ATTR std::uint64_t dense_tile_body(const float* x, std::size_t ldx, const float* y, std::size_t width,
                                       const std::uint64_t* near, const DenseLimits& limits, std::uint64_t* maybe,
                                       std::uint64_t* sure) {
  return limits.in_limit != nullptr ? product_tile<true>(x, ldx, y, width, near, limits, maybe, sure)
                                    : product_tile<false>(x, ldx, y, width, near, limits, maybe, sure);
}

}  // namespace HWY_NAMESPACE
}  // namespace rthiss::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss::simd {

HWY_EXPORT(dense_tile_body);

std::uint64_t dense_tile(const float* x, std::size_t ldx, const float* y, std::size_t width, const std::uint64_t* near,
                         const DenseLimits& limits, std::uint64_t* maybe, std::uint64_t* sure) {
  return HWY_DYNAMIC_DISPATCH(dense_tile_body)(x, ldx, y, width, near, limits, maybe, sure);
}

}  // namespace rthiss::simd
#endif
