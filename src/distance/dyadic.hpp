#pragma once

#include <boost/multiprecision/cpp_int.hpp>

namespace rthiss {

/// The exact real number n * 2^exponent. Every finite double is one; sums, differences and products stay exact.
struct Dyadic {
  boost::multiprecision::cpp_int n;
  int exponent = 0;

  [[nodiscard]] int sign() const { return n.sign(); }
};

[[nodiscard]] Dyadic dyadic(double finite);
[[nodiscard]] Dyadic operator+(const Dyadic& a, const Dyadic& b);
[[nodiscard]] Dyadic operator-(const Dyadic& a, const Dyadic& b);
[[nodiscard]] Dyadic operator*(const Dyadic& a, const Dyadic& b);
/// `a` * 2^shift.
[[nodiscard]] Dyadic scaled(Dyadic a, int shift);

/// -1, 0, 1 as a < b, a == b, a > b.
[[nodiscard]] int compare(const Dyadic& a, const Dyadic& b);

/// The largest integer <= a, for a >= 0.
[[nodiscard]] boost::multiprecision::cpp_int floor_of(const Dyadic& a);

/// Rounded once to float64, subnormals and overflow included (ties to even; overflow to infinity). With `sticky` the
/// number meant lies strictly between |a| and the next larger |n|.
[[nodiscard]] double round_to_nearest(const Dyadic& a, bool sticky = false);
/// The largest double <= a (-infinity if none is finite).
[[nodiscard]] double double_below(const Dyadic& a);
/// The smallest double >= a (+infinity if none is finite).
[[nodiscard]] double double_above(const Dyadic& a);

/// floor(sqrt(n)), and whether that is less than sqrt(n).
struct IntegerRoot {
  boost::multiprecision::cpp_int root;
  bool inexact = false;
};
[[nodiscard]] IntegerRoot integer_root(const boost::multiprecision::cpp_int& n);

/// RN64(sqrt(a)) for a >= 0.
[[nodiscard]] double rounded_root(const Dyadic& a);

}  // namespace rthiss
