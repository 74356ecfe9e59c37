#include "simd/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/pair_distances.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Pairs side by side: independent chains of additions hide their latency.
constexpr std::size_t kSide = kPairPadding + 1;
// Components between two looks at the sums.
constexpr std::size_t kLook = 128;

/// out[s] = sum of the lanes of sums[s].
template <class D>
HWY_INLINE void sum_lanes(D d, const hn::Vec<D>* sums, float* out) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
  // All four at once: two rounds of interleaved additions leave one partial sum of each in every 128-bit block.
  static_assert(kSide == 4);
  const hn::Repartition<double, D> d64;
  const auto s01 = hn::Add(hn::InterleaveLower(d, sums[0], sums[1]), hn::InterleaveUpper(d, sums[0], sums[1]));
  const auto s23 = hn::Add(hn::InterleaveLower(d, sums[2], sums[3]), hn::InterleaveUpper(d, sums[2], sums[3]));
  const auto a = hn::BitCast(d64, s01);
  const auto b = hn::BitCast(d64, s23);
  const auto blocks =
      hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, a, b)), hn::BitCast(d, hn::InterleaveUpper(d64, a, b)));
  const hn::Half<D> half;
  const auto two = hn::Add(hn::LowerHalf(half, blocks), hn::UpperHalf(half, blocks));
#if HWY_TARGET == HWY_AVX2
  hn::StoreU(two, half, out);
#else
  const hn::Half<decltype(half)> quarter;
  hn::StoreU(hn::Add(hn::LowerHalf(quarter, two), hn::UpperHalf(quarter, two)), quarter, out);
#endif
#else
  for (std::size_t s = 0; s < kSide; ++s) out[s] = hn::GetLane(hn::SumOfLanes(d, sums[s]));
#endif
}

HWY_ATTR void float_pairs(const float* x, const float* y, std::size_t stride, const TilePair* pairs, std::size_t count,
                          std::size_t width, float limit, float* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  using V = hn::Vec<decltype(d)>;
  for (std::size_t i = 0; i < count; i += kSide) {
    const float* HWY_RESTRICT a[kSide];
    const float* HWY_RESTRICT b[kSide];
    V sums[kSide];
    for (std::size_t s = 0; s < kSide; ++s) {
      a[s] = x + pairs[i + s].query * stride;
      b[s] = y + pairs[i + s].point * stride;
      sums[s] = hn::Zero(d);
    }
    for (std::size_t k0 = 0;;) {
      const std::size_t k1 = HWY_MIN(width, k0 + kLook);
      for (std::size_t k = k0; k < k1; k += lanes) {
        for (std::size_t s = 0; s < kSide; ++s) {
          const V difference = hn::Sub(hn::LoadU(d, a[s] + k), hn::LoadU(d, b[s] + k));
          sums[s] = hn::MulAdd(difference, difference, sums[s]);
        }
      }
      k0 = k1;
      sum_lanes(d, sums, out + i);
      if (k0 == width) break;
      bool all_above = true;
      for (std::size_t s = 0; s < kSide; ++s) all_above &= out[i + s] > limit;
      if (all_above) break;
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

void byte_pairs(const std::uint8_t* x, const std::uint8_t* y, std::size_t stride, const TilePair* pairs,
                std::size_t count, std::uint32_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* a = x + pairs[i].query * stride;
    const std::uint8_t* b = y + pairs[i].point * stride;
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k < stride; ++k) {
      const int difference = int{a[k]} - int{b[k]};
      sum += static_cast<std::uint32_t>(difference * difference);
    }
    out[i] = sum;
  }
}

#else

HWY_ATTR void byte_pairs(const std::uint8_t* x, const std::uint8_t* y, std::size_t stride, const TilePair* pairs,
                         std::size_t count, std::uint32_t* out) {
  // At most 64 bytes a vector, so that rows padded to 64 have no tail.
  const hn::CappedTag<std::uint8_t, 64> d;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const hn::Repartition<std::int32_t, decltype(d)> d32;
  const std::size_t lanes = hn::Lanes(d);
  using Sum = hn::Vec<decltype(d32)>;
  for (std::size_t i = 0; i < count; i += kSide) {
    Sum sums[kSide], others[kSide];
    for (std::size_t s = 0; s < kSide; ++s) sums[s] = others[s] = hn::Zero(d32);
    for (std::size_t k = 0; k < stride; k += lanes) {
      for (std::size_t s = 0; s < kSide; ++s) {
        const auto a = hn::LoadU(d, x + pairs[i + s].query * stride + k);
        const auto b = hn::LoadU(d, y + pairs[i + s].point * stride + k);
        const auto difference = hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a));
        const auto low = hn::BitCast(d16, hn::InterleaveLower(d, difference, hn::Zero(d)));
        const auto high = hn::BitCast(d16, hn::InterleaveUpper(d, difference, hn::Zero(d)));
        sums[s] = hn::ReorderWidenMulAccumulate(d32, low, low, sums[s], others[s]);
        sums[s] = hn::ReorderWidenMulAccumulate(d32, high, high, sums[s], others[s]);
      }
    }
    for (std::size_t s = 0; s < kSide; ++s) {
      out[i + s] = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d32, hn::Add(sums[s], others[s]))));
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace rthiss::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss::simd {

HWY_EXPORT(float_pairs);
HWY_EXPORT(byte_pairs);

namespace {

void pad(TilePair* pairs, std::size_t count) {
  for (std::size_t i = 0; i < kPairPadding; ++i) pairs[count + i] = pairs[count - 1];
}

}  // namespace

void pair_distances(const float* x, const float* y, std::size_t stride, TilePair* pairs, std::size_t count,
                    std::size_t width, float limit, float* out) {
  if (count == 0) return;
  pad(pairs, count);
  HWY_DYNAMIC_DISPATCH(float_pairs)(x, y, stride, pairs, count, width, limit, out);
}

void pair_distances(const std::uint8_t* x, const std::uint8_t* y, std::size_t stride, TilePair* pairs,
                    std::size_t count, std::uint32_t* out) {
  if (count == 0) return;
  pad(pairs, count);
  HWY_DYNAMIC_DISPATCH(byte_pairs)(x, y, stride, pairs, count, out);
}

}  // namespace rthiss::simd
#endif
