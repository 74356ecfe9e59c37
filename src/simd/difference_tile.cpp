#include "simd/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/difference_tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// kTileRows x kVectors accumulators: 24 of the 32 registers of AVX-512, 12 of 16 elsewhere.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kMaxVectors = 4;
#else
constexpr std::size_t kMaxVectors = 2;
#endif

HWY_INLINE std::uint64_t mask_bits(D d, hn::Mask<D> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t bits;
  hwy::CopyBytes<8>(bytes, &bits);
  return bits;
}

template <std::size_t kVectors>
HWY_INLINE void difference_block(const float* HWY_RESTRICT x, std::size_t ldx, const float* HWY_RESTRICT y,
                                 std::size_t width, float out_limit, float in_limit, std::size_t shift,
                                 std::uint64_t* maybe, std::uint64_t* sure) {
  // Components between two looks at the sums.
  constexpr std::size_t kLook = 32;
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V out = hn::Set(d, out_limit);
  const V in = hn::Set(d, in_limit);
  V acc[kTileRows][kVectors];
  for (auto& row : acc) {
    for (V& value : row) value = hn::Zero(d);
  }
  for (std::size_t k0 = 0; k0 < width; k0 += kLook) {
    const std::size_t k1 = HWY_MIN(width, k0 + kLook);
    for (std::size_t k = k0; k < k1; ++k) {
      V column[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) column[v] = hn::LoadU(d, y + k * kTileSide + v * lanes);
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const V value = hn::Set(d, x[r * ldx + k]);
        for (std::size_t v = 0; v < kVectors; ++v) {
          const V difference = hn::Sub(value, column[v]);
          acc[r][v] = hn::MulAdd(difference, difference, acc[r][v]);
        }
      }
    }
    V least = acc[0][0];
    for (const auto& row : acc) {
      for (const V& value : row) least = hn::Min(least, value);
    }
    if (hn::AllTrue(d, hn::Gt(least, out))) return;
  }
  for (std::size_t r = 0; r < kTileRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = shift + v * lanes;
      maybe[r] |= mask_bits(d, hn::Not(hn::Gt(acc[r][v], out))) << at;
      sure[r] |= mask_bits(d, hn::Le(acc[r][v], in)) << at;
    }
  }
}

// Calls `block` with as many vectors as the columns need: kMaxVectors at a time, then a tail.
template <typename Block>
HWY_INLINE void for_columns(std::size_t columns, const Block& block) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t j = 0;
  for (; j + (kMaxVectors - 1) * lanes < columns; j += kMaxVectors * lanes) {
    block(j, std::integral_constant<std::size_t, kMaxVectors>());
  }
  if constexpr (kMaxVectors == 4) {
    if (j + 2 * lanes < columns) {
      block(j, std::integral_constant<std::size_t, 3>());
      return;
    }
    if (j + lanes < columns) {
      block(j, std::integral_constant<std::size_t, 2>());
      return;
    }
  }
  if (j < columns) block(j, std::integral_constant<std::size_t, 1>());
}

HWY_ATTR void difference_tile_body(const float* x, std::size_t ldx, std::size_t rows, const float* y, std::size_t width,
                                   std::size_t columns, float out_limit, float in_limit, std::uint64_t* maybe,
                                   std::uint64_t* sure) {
  for (std::size_t r = 0; r < rows; r += kTileRows) {
    std::uint64_t block_maybe[kTileRows] = {}, block_sure[kTileRows] = {};
    for_columns(columns, [&](std::size_t j, auto vectors) HWY_ATTR {
      difference_block<decltype(vectors)::value>(x + r * ldx, ldx, y + j, width, out_limit, in_limit, j, block_maybe,
                                                 block_sure);
    });
    for (std::size_t i = 0; i < kTileRows; ++i) {
      maybe[r + i] = block_maybe[i];
      sure[r + i] = block_sure[i];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rthiss::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss::simd {

HWY_EXPORT(difference_tile_body);

namespace {

// Columns past the last point hold whatever was there: their bits are taken off.
void clear_padding(std::size_t rows, std::size_t columns, std::uint64_t* maybe, std::uint64_t* sure) {
  if (columns >= kTileSide) return;
  const std::uint64_t valid = (std::uint64_t{1} << columns) - 1;
  for (std::size_t r = 0; r < rows; ++r) {
    maybe[r] &= valid;
    sure[r] &= valid;
  }
}

}  // namespace

void difference_tile(const float* x, std::size_t ldx, std::size_t rows, const float* y, std::size_t width,
                     std::size_t columns, float out_limit, float in_limit, std::uint64_t* maybe, std::uint64_t* sure) {
  HWY_DYNAMIC_DISPATCH(difference_tile_body)
  (x, ldx, rows, y, width, columns, out_limit, in_limit, maybe, sure);
  clear_padding(rows, columns, maybe, sure);
}

}  // namespace rthiss::simd
#endif
