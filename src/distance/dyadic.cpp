#include "distance/dyadic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rthiss {

using boost::multiprecision::cpp_int;
using boost::multiprecision::msb;

namespace {

constexpr int kSmallestExponent = -1074;

enum class Away { kNever, kAlways, kNearest };  // what happens to a magnitude between two doubles

// |n| * 2^exponent (n != 0), rounded to a double.
double round_magnitude(cpp_int n, int exponent, Away away) {
  const int top = exponent + static_cast<int>(msb(n));
  const int quantum = std::max(top - 52, kSmallestExponent);
  const int shift = quantum - exponent;
  if (shift <= 0) {
    n <<= -shift;
  } else {
    const cpp_int kept = n >> shift;
    const cpp_int twice_rest = (n - (kept << shift)) << 1;
    n = kept;
    if (twice_rest != 0) {
      const int half = twice_rest.compare(cpp_int(1) << shift);
      const bool up =
          away == Away::kAlways || (away == Away::kNearest && (half > 0 || (half == 0 && bit_test(kept, 0))));
      if (up) n += 1;
    }
  }
  if (quantum > 1023) n = cpp_int(1) << 53;  // far beyond the largest double; ldexp overflows below
  const double result = std::ldexp(static_cast<double>(n.convert_to<std::uint64_t>()), quantum);
  if (std::isinf(result) && away == Away::kNever) return std::numeric_limits<double>::max();
  return result;
}

}  // namespace

Dyadic dyadic(double finite) {
  int exponent = 0;
  const double fraction = std::frexp(finite, &exponent);
  auto integer = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  return {cpp_int(integer), exponent - 53};
}

Dyadic operator+(const Dyadic& a, const Dyadic& b) {
  if (a.n.is_zero()) return b;
  if (b.n.is_zero()) return a;
  if (a.exponent < b.exponent) return b + a;
  return {cpp_int((a.n << (a.exponent - b.exponent)) + b.n), b.exponent};
}

Dyadic operator-(const Dyadic& a, const Dyadic& b) { return a + Dyadic{cpp_int(-b.n), b.exponent}; }

Dyadic operator*(const Dyadic& a, const Dyadic& b) { return {cpp_int(a.n * b.n), a.exponent + b.exponent}; }

Dyadic scaled(Dyadic a, int shift) {
  a.exponent += shift;
  return a;
}

int compare(const Dyadic& a, const Dyadic& b) { return (a - b).sign(); }

cpp_int floor_of(const Dyadic& a) {
  if (a.exponent >= 0) return cpp_int(a.n << a.exponent);
  return cpp_int(a.n >> -a.exponent);
}

double round_to_nearest(const Dyadic& a, bool sticky) {
  if (a.n.is_zero() && !sticky) return 0.0;
  cpp_int n = abs(a.n);
  int exponent = a.exponent;
  if (sticky) {  // enough bits below the quantum of the result, and one more that says "a little above"
    n = (n << 66) + 1;
    exponent -= 66;
  }
  const double magnitude = round_magnitude(std::move(n), exponent, Away::kNearest);
  return a.sign() < 0 ? -magnitude : magnitude;
}

double double_below(const Dyadic& a) {
  if (a.n.is_zero()) return 0.0;
  return a.sign() > 0 ? round_magnitude(a.n, a.exponent, Away::kNever)
                      : -round_magnitude(cpp_int(-a.n), a.exponent, Away::kAlways);
}

double double_above(const Dyadic& a) { return -double_below({cpp_int(-a.n), a.exponent}); }

IntegerRoot integer_root(const cpp_int& n) {
  cpp_int rest;
  cpp_int root = sqrt(n, rest);
  return {std::move(root), !rest.is_zero()};
}

double rounded_root(const Dyadic& a) {
  if (a.n.is_zero()) return 0.0;
  // An even exponent, and at least 64 bits in the root.
  int shift = std::max(0, 128 - static_cast<int>(msb(a.n)));
  if ((a.exponent - shift) % 2 != 0) ++shift;
  const IntegerRoot root = integer_root(cpp_int(a.n << shift));
  return round_to_nearest({root.root, (a.exponent - shift) / 2}, root.inexact);
}

}  // namespace rthiss
