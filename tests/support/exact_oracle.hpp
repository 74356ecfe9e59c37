#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

/// The exactness rule in rational arithmetic, written apart from the library on purpose: it shares no code with what
/// it judges, and uses no property of the rule beyond its definition. Slow.
namespace rthiss::test {

using Rational = boost::multiprecision::cpp_rational;
using Rows = std::vector<std::vector<double>>;

/// 2^exponent.
inline Rational power_of_two(int exponent) {
  const boost::multiprecision::cpp_int power = boost::multiprecision::cpp_int(1) << std::abs(exponent);
  return exponent >= 0 ? Rational(power) : Rational(boost::multiprecision::cpp_int(1), power);
}

/// The double as a rational number.
inline Rational rational(double value) {
  if (!std::isfinite(value)) throw std::invalid_argument("rational: not finite");
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return Rational(boost::multiprecision::cpp_int(static_cast<std::int64_t>(std::ldexp(fraction, 53)))) *
         power_of_two(exponent - 53);
}

/// The sum of squared differences.
inline Rational oracle_squared_distance(const double* x, const double* y, std::size_t d) {
  Rational sum = 0;
  for (std::size_t k = 0; k < d; ++k) {
    const Rational difference = rational(x[k]) - rational(y[k]);
    sum += difference * difference;
  }
  return sum;
}

inline bool has_even_significand(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const int bits = exponent >= -1021 ? 53 : 53 - (-1021 - exponent);
  return std::fmod(std::ldexp(fraction, bits), 2.0) == 0.0;
}

/// The value that a double and the next one above it share the border at: the midpoint (2^1024 above the largest).
inline Rational border_above(double value) {
  const double next = std::nextafter(value, std::numeric_limits<double>::infinity());
  const Rational upper = std::isinf(next) ? power_of_two(1024) : rational(next);
  return (rational(value) + upper) / 2;
}

/// Does a real number `t`, of which only comparisons are known, round to a double <= `value`?
/// compare_to(b): the sign of t - b.
template <typename Compare>
bool rounds_to_at_most(double value, const Compare& compare_to) {
  if (std::isinf(value)) return value > 0;
  const int order = compare_to(border_above(value));
  return order < 0 || (order == 0 && has_even_significand(value));
}

/// RN64 of such a number in [lowest, highest], by bisection over the doubles.
template <typename Compare>
double rounded(const Compare& compare_to, double lowest, double highest) {
  while (lowest < highest) {
    // The middle double in the order of their bit patterns.
    const auto rank = [](double v) {
      std::int64_t bits = 0;
      static_assert(sizeof bits == sizeof v);
      __builtin_memcpy(&bits, &v, sizeof v);
      return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
    };
    const auto value_of = [](std::int64_t r) {
      const std::int64_t bits = r >= 0 ? r : std::numeric_limits<std::int64_t>::min() - r;
      double v = 0;
      __builtin_memcpy(&v, &bits, sizeof v);
      return v;
    };
    const std::int64_t low = rank(lowest);
    const std::int64_t high = rank(highest);
    const std::int64_t middle =
        low + static_cast<std::int64_t>((static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)) / 2);
    if (rounds_to_at_most(value_of(middle), compare_to)) {
      highest = value_of(middle);
    } else {
      lowest = value_of(middle + 1);
    }
  }
  return lowest;
}

/// sqrt(squared) against b.
inline int compare_root(const Rational& squared, const Rational& b) {
  if (b < 0) return 1;
  return squared.compare(Rational(b * b));
}

/// distance(x, y) <= radius, by the definition.
inline bool oracle_within(const double* x, const double* y, std::size_t d, double radius) {
  if (std::isinf(radius)) return true;
  const Rational sum = oracle_squared_distance(x, y, d);
  return rounds_to_at_most(radius, [&](const Rational& b) { return compare_root(sum, b); });
}

/// RN64(sqrt(sum of squared differences)); +infinity where that is beyond the largest double.
inline double oracle_distance(const double* x, const double* y, std::size_t d) {
  const Rational sum = oracle_squared_distance(x, y, d);
  return rounded([&](const Rational& b) { return compare_root(sum, b); }, 0.0, std::numeric_limits<double>::infinity());
}

/// The cosine of two rows, neither of them zero, known by comparisons.
class OracleCosine {
 public:
  OracleCosine(const double* x, const double* y, std::size_t d) {
    Rational xx = 0;
    Rational yy = 0;
    for (std::size_t k = 0; k < d; ++k) {
      xy_ += rational(x[k]) * rational(y[k]);
      xx += rational(x[k]) * rational(x[k]);
      yy += rational(y[k]) * rational(y[k]);
    }
    norms_ = xx * yy;
    if (norms_ == 0) throw std::invalid_argument("OracleCosine: a row of zeros");
  }

  /// The sign of cos - b.
  [[nodiscard]] int compare(const Rational& b) const {
    const Rational left = xy_ * xy_;
    const Rational right = b * b * norms_;
    if (xy_ >= 0) return b < 0 ? 1 : left.compare(right);
    return b >= 0 ? -1 : right.compare(left);
  }

 private:
  Rational xy_ = 0;
  Rational norms_;
};

/// RN64(x.y / (|x||y|)).
inline double oracle_cosine_similarity(const double* x, const double* y, std::size_t d) {
  const OracleCosine cosine(x, y, d);
  return rounded([&](const Rational& b) { return cosine.compare(b); }, -1.0, 1.0);
}

/// RN64(1 - x.y / (|x||y|)).
inline double oracle_cosine_distance(const double* x, const double* y, std::size_t d) {
  const OracleCosine cosine(x, y, d);
  return rounded([&](const Rational& b) { return -cosine.compare(Rational(1 - b)); }, 0.0, 2.0);
}

inline bool oracle_cosine_at_least(const double* x, const double* y, std::size_t d, double similarity) {
  return oracle_cosine_similarity(x, y, d) >= similarity;
}

inline bool oracle_cosine_distance_within(const double* x, const double* y, std::size_t d, double radius) {
  return oracle_cosine_distance(x, y, d) <= radius;
}

/// All unordered pairs (i, j), i < j, that `within(x, y, d)` holds for, in lexicographic order.
template <typename Within>
std::vector<std::pair<std::uint32_t, std::uint32_t>> brute_force_pairs(const Rows& rows, const Within& within) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t j = i + 1; j < rows.size(); ++j) {
      if (within(rows[i].data(), rows[j].data(), rows[i].size())) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

/// The Euclidean self-join without self pairs, each pair once.
inline std::vector<std::pair<std::uint32_t, std::uint32_t>> oracle_pairs(const Rows& rows, double radius) {
  return brute_force_pairs(
      rows, [radius](const double* x, const double* y, std::size_t d) { return oracle_within(x, y, d, radius); });
}

}  // namespace rthiss::test
