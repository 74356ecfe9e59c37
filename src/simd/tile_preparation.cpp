#include "simd/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/tile_preparation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_ATTR std::uint64_t near_box_body(const float* panel, std::size_t width, const float* low, const float* high,
                                     float limit) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V zero = hn::Zero(d);
  const V bound = hn::Set(d, limit);
  std::uint64_t near = 0;
  for (std::size_t j = 0; j < kTileSide; j += lanes) {
    V sum = zero;
    for (std::size_t k = 0; k < width; ++k) {
      const V x = hn::LoadU(d, panel + k * kTileSide + j);
      const V gap = hn::Max(hn::Max(hn::Sub(hn::Set(d, low[k]), x), hn::Sub(x, hn::Set(d, high[k]))), zero);
      sum = hn::MulAdd(gap, gap, sum);
    }
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, hn::Not(hn::Gt(sum, bound)), bytes);
    std::uint64_t bits;
    hwy::CopyBytes<8>(bytes, &bits);
    near |= bits << j;
  }
  return near;
}

HWY_ATTR void center_rows_body(const float* x, std::size_t stride, const std::uint8_t* rows, std::size_t count,
                               std::size_t width, const float* center, float* out, float* norms) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < count; ++r) {
    const float* source = x + rows[r] * stride;
    V sum = hn::Zero(d);
    for (std::size_t k = 0; k < width; k += lanes) {
      const V value = hn::Sub(hn::LoadU(d, source + k), hn::LoadU(d, center + k));
      hn::StoreU(value, d, out + r * width + k);
      sum = hn::MulAdd(value, value, sum);
    }
    norms[r] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

HWY_ATTR void center_columns_body(const float* panel, std::size_t width, std::uint64_t keep, const float* center,
                                  float* out, float* half_norms) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V half = hn::Set(d, 0.5F);
  std::size_t kept = 0;
  if (keep == ~std::uint64_t{0}) {
    for (std::size_t j = 0; j < kTileSide; j += lanes) {
      V sum = hn::Zero(d);
      for (std::size_t k = 0; k < width; ++k) {
        const V value = hn::Sub(hn::LoadU(d, panel + k * kTileSide + j), hn::Set(d, center[k]));
        hn::StoreU(value, d, out + k * kTileSide + j);
        sum = hn::MulAdd(value, value, sum);
      }
      hn::StoreU(hn::Mul(sum, half), d, half_norms + j);
    }
    return;
  }
  for (std::size_t j = 0; j < kTileSide; j += lanes) {
    std::uint8_t bytes[8] = {};
    const std::uint64_t bits = keep >> j;
    hwy::CopyBytes<8>(&bits, bytes);
    const auto mask = hn::LoadMaskBits(d, bytes);
    const std::size_t here = hn::CountTrue(d, mask);
    if (here == 0) continue;
    V sum = hn::Zero(d);
    for (std::size_t k = 0; k < width; ++k) {
      const V value = hn::Sub(hn::LoadU(d, panel + k * kTileSide + j), hn::Set(d, center[k]));
      sum = hn::MulAdd(value, value, sum);
      hn::CompressBlendedStore(value, mask, d, out + k * kTileSide + kept);
    }
    hn::CompressBlendedStore(hn::Mul(sum, half), mask, d, half_norms + kept);
    kept += here;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rthiss::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <limits>

namespace rthiss::simd {

HWY_EXPORT(near_box_body);
HWY_EXPORT(center_rows_body);
HWY_EXPORT(center_columns_body);

std::uint64_t near_box(const float* panel, std::size_t width, const float* low, const float* high, float limit) {
  return HWY_DYNAMIC_DISPATCH(near_box_body)(panel, width, low, high, limit);
}

void center_rows(const float* x, std::size_t stride, const std::uint8_t* rows, std::size_t count, std::size_t width,
                 const float* center, float* out, float* norms) {
  HWY_DYNAMIC_DISPATCH(center_rows_body)(x, stride, rows, count, width, center, out, norms);
}

void center_columns(const float* panel, std::size_t width, std::uint64_t keep, const float* center, float* out,
                    float* half_norms) {
  for (std::size_t j = 0; j < kTileSide; ++j) half_norms[j] = std::numeric_limits<float>::infinity();
  HWY_DYNAMIC_DISPATCH(center_columns_body)(panel, width, keep, center, out, half_norms);
}

}  // namespace rthiss::simd
#endif
