#include "simd/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/pair_distances.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Components between two looks at the sums; a row this short is summed without looking.
constexpr std::size_t kLook = 128;

HWY_ATTR void pair_distances_body(const float* HWY_RESTRICT x, const float* HWY_RESTRICT base, std::size_t stride,
                                  const std::uint32_t* HWY_RESTRICT rows, std::size_t count, std::size_t width,
                                  float limit, float* HWY_RESTRICT out) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const float* HWY_RESTRICT y0 = base + rows[i] * stride;
    const float* HWY_RESTRICT y1 = base + rows[i + 1] * stride;
    const float* HWY_RESTRICT y2 = base + rows[i + 2] * stride;
    const float* HWY_RESTRICT y3 = base + rows[i + 3] * stride;
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (std::size_t k0 = 0;;) {
      const std::size_t k1 = HWY_MIN(width, k0 + kLook);
      for (std::size_t k = k0; k < k1; k += lanes) {
        const V value = hn::LoadU(d, x + k);
        const V d0 = hn::Sub(value, hn::LoadU(d, y0 + k));
        const V d1 = hn::Sub(value, hn::LoadU(d, y1 + k));
        const V d2 = hn::Sub(value, hn::LoadU(d, y2 + k));
        const V d3 = hn::Sub(value, hn::LoadU(d, y3 + k));
        s0 = hn::MulAdd(d0, d0, s0);
        s1 = hn::MulAdd(d1, d1, s1);
        s2 = hn::MulAdd(d2, d2, s2);
        s3 = hn::MulAdd(d3, d3, s3);
      }
      k0 = k1;
      out[i] = hn::GetLane(hn::SumOfLanes(d, s0));
      out[i + 1] = hn::GetLane(hn::SumOfLanes(d, s1));
      out[i + 2] = hn::GetLane(hn::SumOfLanes(d, s2));
      out[i + 3] = hn::GetLane(hn::SumOfLanes(d, s3));
      if (k0 == width) break;
      if (out[i] > limit && out[i + 1] > limit && out[i + 2] > limit && out[i + 3] > limit) break;
    }
  }
  for (; i < count; ++i) {
    const float* HWY_RESTRICT y = base + rows[i] * stride;
    V sum = hn::Zero(d);
    for (std::size_t k = 0; k < width; k += lanes) {
      const V difference = hn::Sub(hn::LoadU(d, x + k), hn::LoadU(d, y + k));
      sum = hn::MulAdd(difference, difference, sum);
    }
    out[i] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rthiss::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss::simd {

HWY_EXPORT(pair_distances_body);

void pair_distances(const float* x, const float* base, std::size_t stride, const std::uint32_t* rows, std::size_t count,
                    std::size_t width, float limit, float* out) {
  HWY_DYNAMIC_DISPATCH(pair_distances_body)(x, base, stride, rows, count, width, limit, out);
}

}  // namespace rthiss::simd
#endif
