#include "distance/exact_sums.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace rthiss {

using boost::multiprecision::cpp_int;

namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

constexpr std::uint64_t kFractionMask = (std::uint64_t{1} << 52) - 1;

// significand * 2^exponent; the significand is 0 for zero.
struct Decoded {
  std::int64_t significand;
  int exponent;
};

Decoded decode(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>((bits >> 52) & 0x7FF);
  const std::uint64_t fraction = bits & kFractionMask;
  const auto magnitude = static_cast<std::int64_t>(biased == 0 ? fraction : fraction | (kFractionMask + 1));
  return {(bits >> 63) != 0 ? -magnitude : magnitude, std::max(biased, 1) - 1075};
}

// Every value seen is an integer times 2^lowest, and below 2^highest.
struct ExponentRange {
  int lowest = 2000;
  int highest = -2000;

  void include(const double* values, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      const Decoded value = decode(values[k]);
      if (value.significand == 0) continue;
      const auto magnitude = static_cast<std::uint64_t>(value.significand < 0 ? -value.significand : value.significand);
      lowest = std::min(lowest, value.exponent + std::countr_zero(magnitude));
      highest = std::max(highest, value.exponent + 64 - std::countl_zero(magnitude));
    }
  }
  [[nodiscard]] bool empty() const { return highest < lowest; }
  [[nodiscard]] int bits() const { return highest - lowest; }
};

// value / 2^lowest, which is an integer (significand bits below 2^lowest are zero).
template <typename Integer>
Integer steps(double value, int lowest) {
  const Decoded decoded = decode(value);
  if (decoded.significand == 0) return Integer(0);
  const int shift = decoded.exponent - lowest;
  if (shift < 0) return Integer(decoded.significand >> -shift);
  return Integer(Integer(decoded.significand) * (Integer(1) << shift));
}

// A sum of products of two integers below 2^126 each, as three sums of products of their halves of 63 bits:
// (a1 2^63 + a0)(b1 2^63 + b0). Each product is below 2^126; a sum of them carries into a word of its own.
class WideSum {
 public:
  void add_square(Int128 a) {
    const UInt128 magnitude = a < 0 ? -static_cast<UInt128>(a) : static_cast<UInt128>(a);
    const auto high = static_cast<std::uint64_t>(magnitude >> 63);
    const auto low = static_cast<std::uint64_t>(magnitude) & kLowMask;
    parts_[0].add(static_cast<UInt128>(low) * low);
    parts_[1].add(static_cast<UInt128>(low) * high);
    parts_[1].add(static_cast<UInt128>(low) * high);
    parts_[2].add(static_cast<UInt128>(high) * high);
  }

  void add_product(Int128 a, Int128 b, WideSum& negative) {
    WideSum& target = (a < 0) == (b < 0) ? *this : negative;
    const UInt128 first = a < 0 ? -static_cast<UInt128>(a) : static_cast<UInt128>(a);
    const UInt128 second = b < 0 ? -static_cast<UInt128>(b) : static_cast<UInt128>(b);
    const auto first_high = static_cast<std::uint64_t>(first >> 63);
    const auto first_low = static_cast<std::uint64_t>(first) & kLowMask;
    const auto second_high = static_cast<std::uint64_t>(second >> 63);
    const auto second_low = static_cast<std::uint64_t>(second) & kLowMask;
    target.parts_[0].add(static_cast<UInt128>(first_low) * second_low);
    target.parts_[1].add(static_cast<UInt128>(first_low) * second_high);
    target.parts_[1].add(static_cast<UInt128>(first_high) * second_low);
    target.parts_[2].add(static_cast<UInt128>(first_high) * second_high);
  }

  [[nodiscard]] cpp_int total() const {
    return cpp_int(parts_[0].total() + (parts_[1].total() << 63) + (parts_[2].total() << 126));
  }

 private:
  static constexpr std::uint64_t kLowMask = (std::uint64_t{1} << 63) - 1;

  struct Part {
    UInt128 sum = 0;
    std::uint64_t carry = 0;

    void add(UInt128 term) {
      sum += term;
      carry += sum < term ? 1 : 0;
    }
    [[nodiscard]] cpp_int total() const {
      const cpp_int high = (cpp_int(carry) << 64) + cpp_int(static_cast<std::uint64_t>(sum >> 64));
      return cpp_int((high << 64) + cpp_int(static_cast<std::uint64_t>(sum)));
    }
  };
  Part parts_[3];
};

constexpr int kWideBits = 124;  // values below 2^124 steps: differences below 2^125

}  // namespace

Dyadic exact_squared_distance(const double* x, const double* y, std::size_t columns) {
  ExponentRange range;
  range.include(x, columns);
  range.include(y, columns);
  if (range.empty()) return {};
  if (range.bits() <= kWideBits) {
    WideSum sum;
    for (std::size_t k = 0; k < columns; ++k) {
      sum.add_square(steps<Int128>(x[k], range.lowest) - steps<Int128>(y[k], range.lowest));
    }
    return {sum.total(), 2 * range.lowest};
  }
  cpp_int sum = 0;
  for (std::size_t k = 0; k < columns; ++k) {
    const cpp_int difference = steps<cpp_int>(x[k], range.lowest) - steps<cpp_int>(y[k], range.lowest);
    sum += difference * difference;
  }
  return {sum, 2 * range.lowest};
}

ExactCosineSums exact_cosine_sums(const double* x, const double* y, std::size_t columns) {
  // A row of its own exponents each: cosines of rows of very different length stay on the fast path.
  ExponentRange x_range;
  ExponentRange y_range;
  x_range.include(x, columns);
  y_range.include(y, columns);
  if (x_range.empty() || y_range.empty()) return {};
  const int xy_exponent = x_range.lowest + y_range.lowest;
  if (x_range.bits() <= kWideBits && y_range.bits() <= kWideBits) {
    WideSum positive, negative, xx, yy;
    for (std::size_t k = 0; k < columns; ++k) {
      const auto a = steps<Int128>(x[k], x_range.lowest);
      const auto b = steps<Int128>(y[k], y_range.lowest);
      positive.add_product(a, b, negative);
      xx.add_square(a);
      yy.add_square(b);
    }
    return {{cpp_int(positive.total() - negative.total()), xy_exponent},
            {xx.total(), 2 * x_range.lowest},
            {yy.total(), 2 * y_range.lowest}};
  }
  cpp_int xy = 0;
  cpp_int xx = 0;
  cpp_int yy = 0;
  for (std::size_t k = 0; k < columns; ++k) {
    const auto a = steps<cpp_int>(x[k], x_range.lowest);
    const auto b = steps<cpp_int>(y[k], y_range.lowest);
    xy += a * b;
    xx += a * a;
    yy += b * b;
  }
  return {{xy, xy_exponent}, {xx, 2 * x_range.lowest}, {yy, 2 * y_range.lowest}};
}

}  // namespace rthiss
