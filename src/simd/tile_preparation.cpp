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

HWY_ATTR void near_boxes_body(const float* panel, std::size_t width, const float* low, const float* high,
                              std::size_t stride, std::size_t boxes, float limit, std::uint64_t* near) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V zero = hn::Zero(d);
  const V bound = hn::Set(d, limit);
  for (std::size_t b = 0; b < boxes; ++b) near[b] = 0;
  for (std::size_t j = 0; j < kTileSide; j += lanes) {
    V sums[kStrips] = {zero, zero, zero, zero};
    for (std::size_t k = 0; k < width; ++k) {
      const V x = hn::LoadU(d, panel + k * kTileSide + j);
      for (std::size_t b = 0; b < boxes; ++b) {
        const V below = hn::Sub(hn::Set(d, low[b * stride + k]), x);
        const V above = hn::Sub(x, hn::Set(d, high[b * stride + k]));
        const V gap = hn::Max(hn::Max(below, above), zero);
        sums[b] = hn::MulAdd(gap, gap, sums[b]);
      }
    }
    for (std::size_t b = 0; b < boxes; ++b) {
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Not(hn::Gt(sums[b], bound)), bytes);
      std::uint64_t bits;
      hwy::CopyBytes<8>(bytes, &bits);
      near[b] |= bits << j;
    }
  }
}

HWY_ATTR void center_rows_body(const float* x, std::size_t count, std::size_t width, const float* center, float* out,
                               float* norms) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < count; ++r) {
    V sum = hn::Zero(d);
    for (std::size_t k = 0; k < width; k += lanes) {
      const V value = hn::Sub(hn::LoadU(d, x + r * width + k), hn::LoadU(d, center + k));
      hn::StoreU(value, d, out + r * width + k);
      sum = hn::MulAdd(value, value, sum);
    }
    norms[r] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

HWY_ATTR void center_columns_body(const float* panel, std::size_t width, const float* center, float* out,
                                  float* half_norms) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < kTileSide; j += lanes) {
    V sum = hn::Zero(d);
    for (std::size_t k = 0; k < width; ++k) {
      const V value = hn::Sub(hn::LoadU(d, panel + k * kTileSide + j), hn::Set(d, center[k]));
      hn::StoreU(value, d, out + k * kTileSide + j);
      sum = hn::MulAdd(value, value, sum);
    }
    hn::StoreU(hn::Mul(sum, hn::Set(d, 0.5F)), d, half_norms + j);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rthiss::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <limits>

namespace rthiss::simd {

HWY_EXPORT(near_boxes_body);
HWY_EXPORT(center_rows_body);
HWY_EXPORT(center_columns_body);

void near_boxes(const float* panel, std::size_t width, const float* low, const float* high, std::size_t stride,
                std::size_t boxes, float limit, std::uint64_t* near) {
  HWY_DYNAMIC_DISPATCH(near_boxes_body)(panel, width, low, high, stride, boxes, limit, near);
}

void center_rows(const float* x, std::size_t count, std::size_t width, const float* center, float* out, float* norms) {
  HWY_DYNAMIC_DISPATCH(center_rows_body)(x, count, width, center, out, norms);
}

void center_columns(const float* panel, std::size_t width, std::size_t count, const float* center, float* out,
                    float* half_norms) {
  HWY_DYNAMIC_DISPATCH(center_columns_body)(panel, width, center, out, half_norms);
  for (std::size_t j = count; j < kTileSide; ++j) half_norms[j] = std::numeric_limits<float>::infinity();
}

}  // namespace rthiss::simd
#endif
