#include "distance/pair_sums.hpp"

#include <algorithm>
#include <cmath>

// Vectors are kept in arrays and structs, which scalable vectors cannot be.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "distance/pair_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<double>;
using Vec = hn::Vec<Tag>;

constexpr std::size_t kMaxLanes = HWY_MAX_BYTES / sizeof(double);

// Calls step(lane group, x, y) for vectors of components, the last one padded with zeros (which add nothing and round
// nothing). Lane groups 0 .. kGroups - 1 take turns, so that their chains of additions run side by side.
template <int kGroups, typename Step>
HWY_INLINE void for_vectors(const double* HWY_RESTRICT x, const double* HWY_RESTRICT y, std::size_t columns,
                            const Step& step) {
  const Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  std::size_t k = 0;
  for (; k + kGroups * lanes <= columns; k += kGroups * lanes) {
    for (int group = 0; group < kGroups; ++group) {
      const std::size_t at = k + static_cast<std::size_t>(group) * lanes;
      step(group, hn::LoadU(tag, x + at), hn::LoadU(tag, y + at));
    }
  }
  for (; k + lanes <= columns; k += lanes) step(0, hn::LoadU(tag, x + k), hn::LoadU(tag, y + k));
  if (k < columns) {
#if HWY_MAX_BYTES >= 32
    // Native masked loads, which do not touch what is masked out.
    const auto rest = hn::FirstN(tag, columns - k);
    step(0, hn::MaskedLoad(rest, tag, x + k), hn::MaskedLoad(rest, tag, y + k));
#else
    HWY_ALIGN double x_tail[kMaxLanes] = {};
    HWY_ALIGN double y_tail[kMaxLanes] = {};
    for (std::size_t i = 0; k + i < columns; ++i) {
      x_tail[i] = x[k + i];
      y_tail[i] = y[k + i];
    }
    step(0, hn::Load(tag, x_tail), hn::Load(tag, y_tail));
#endif
  }
}

// product = RN(a b) and its rounding error.
HWY_INLINE void two_product(Vec a, Vec b, Vec& product, Vec& error) {
  product = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  error = hn::MulSub(a, b, product);
#else
  // Dekker's product: halves of 26 bits, whose products are exact.
  const Vec splitter = hn::Set(Tag(), 134217729.0);  // 2^27 + 1
  const Vec a_scaled = hn::Mul(a, splitter);
  const Vec a_high = hn::Sub(a_scaled, hn::Sub(a_scaled, a));
  const Vec a_low = hn::Sub(a, a_high);
  const Vec b_scaled = hn::Mul(b, splitter);
  const Vec b_high = hn::Sub(b_scaled, hn::Sub(b_scaled, b));
  const Vec b_low = hn::Sub(b, b_high);
  const Vec cross =
      hn::Add(hn::Add(hn::Sub(hn::Mul(a_high, b_high), product), hn::Mul(a_high, b_low)), hn::Mul(a_low, b_high));
  error = hn::Add(cross, hn::Mul(a_low, b_low));
#endif
}

HWY_INLINE void two_sum(Vec a, Vec b, Vec& sum, Vec& error) {
  sum = hn::Add(a, b);
  const Vec b_part = hn::Sub(sum, a);
  error = hn::Add(hn::Sub(a, hn::Sub(sum, b_part)), hn::Sub(b, b_part));
}

// A sum whose rounding errors are gathered in `low`.
struct Accumulator {
  Vec high;
  Vec low;

  HWY_INLINE void add(Vec term, Vec term_low) {
    Vec error;
    two_sum(high, term, high, error);
    low = hn::Add(low, hn::Add(error, term_low));
  }

  HWY_INLINE DoubleDouble total() const {
    const Tag tag;
    HWY_ALIGN double highs[kMaxLanes];
    HWY_ALIGN double lows[kMaxLanes];
    hn::Store(high, tag, highs);
    hn::Store(low, tag, lows);
    double sum = highs[0];
    double rest = lows[0];
    for (std::size_t lane = 1; lane < hn::Lanes(tag); ++lane) {
      const DoubleDouble next = rthiss::two_sum(sum, highs[lane]);
      sum = next.hi;
      rest += next.lo + lows[lane];
    }
    return rthiss::two_sum(sum, rest);
  }
};

HWY_INLINE Accumulator empty_sum() { return {hn::Zero(Tag()), hn::Zero(Tag())}; }

HWY_INLINE double sum_of(Vec a) { return hn::GetLane(hn::SumOfLanes(Tag(), a)); }

double squared_distance(const double* x, const double* y, std::size_t columns) {
  const Vec zero = hn::Zero(Tag());
  Vec sums[4] = {zero, zero, zero, zero};
  for_vectors<4>(x, y, columns, [&](int group, Vec a, Vec b) HWY_ATTR {
    const Vec difference = hn::Sub(a, b);
    sums[group] = hn::MulAdd(difference, difference, sums[group]);
  });
  return sum_of(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])));
}

DoubleDouble squared_distance_dd(const double* x, const double* y, std::size_t columns, double scale) {
  const Vec factor = hn::Set(Tag(), scale);
  Accumulator sums[2] = {empty_sum(), empty_sum()};
  for_vectors<2>(x, y, columns, [&](int group, Vec a, Vec b) HWY_ATTR {
    Vec high, low, square, square_low;
    two_sum(a, hn::Neg(b), high, low);
    high = hn::Mul(high, factor);
    low = hn::Mul(low, factor);
    two_product(high, high, square, square_low);
    sums[group].add(square, hn::MulAdd(hn::Add(high, high), low, square_low));
  });
  sums[0].add(sums[1].high, sums[1].low);
  return sums[0].total();
}

CosineSums<double> cosine_sums(const double* x, const double* y, std::size_t columns) {
  const Vec zero = hn::Zero(Tag());
  Vec xy[2] = {zero, zero};
  Vec xx[2] = {zero, zero};
  Vec yy[2] = {zero, zero};
  for_vectors<2>(x, y, columns, [&](int group, Vec a, Vec b) HWY_ATTR {
    xy[group] = hn::MulAdd(a, b, xy[group]);
    xx[group] = hn::MulAdd(a, a, xx[group]);
    yy[group] = hn::MulAdd(b, b, yy[group]);
  });
  return {sum_of(hn::Add(xy[0], xy[1])), sum_of(hn::Add(xx[0], xx[1])), sum_of(hn::Add(yy[0], yy[1]))};
}

CosineSums<DoubleDouble> cosine_sums_dd(const double* x, const double* y, std::size_t columns) {
  Accumulator xy = empty_sum();
  Accumulator xx = empty_sum();
  Accumulator yy = empty_sum();
  for_vectors<1>(x, y, columns, [&](int, Vec a, Vec b) HWY_ATTR {
    Vec product, low;
    two_product(a, b, product, low);
    xy.add(product, low);
    two_product(a, a, product, low);
    xx.add(product, low);
    two_product(b, b, product, low);
    yy.add(product, low);
  });
  return {xy.total(), xx.total(), yy.total()};
}

}  // namespace rthiss::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss {

HWY_EXPORT(squared_distance);
HWY_EXPORT(squared_distance_dd);
HWY_EXPORT(cosine_sums);
HWY_EXPORT(cosine_sums_dd);

double squared_distance(const double* x, const double* y, std::size_t columns) noexcept {
  return HWY_DYNAMIC_DISPATCH(squared_distance)(x, y, columns);
}

DoubleDouble squared_distance_dd(const double* x, const double* y, std::size_t columns, double scale) noexcept {
  return HWY_DYNAMIC_DISPATCH(squared_distance_dd)(x, y, columns, scale);
}

CosineSums<double> cosine_sums(const double* x, const double* y, std::size_t columns) noexcept {
  return HWY_DYNAMIC_DISPATCH(cosine_sums)(x, y, columns);
}

CosineSums<DoubleDouble> cosine_sums_dd(const double* x, const double* y, std::size_t columns) noexcept {
  return HWY_DYNAMIC_DISPATCH(cosine_sums_dd)(x, y, columns);
}

double double_double_bound(std::size_t columns) noexcept {
  const double n = static_cast<double>(columns) + 70.0;
  return round_up(0x1p-104 * round_up(n * n));
}

double largest_difference(const double* x, const double* y, std::size_t columns) noexcept {
  double largest = 0.0;
  for (std::size_t k = 0; k < columns; ++k) largest = std::max(largest, std::fabs(x[k] - y[k]));
  return largest;
}

}  // namespace rthiss
#endif  // HWY_ONCE
