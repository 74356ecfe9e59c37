#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/exact_oracle.hpp"

/// The exact value of every pair of two small sets, worked out once for many searches. The sums of squares are
/// integers over a common power of two, so that this is fast enough for some hundred rows; like exact_oracle.hpp, which
/// decides what is near a border, it shares no code with the library.
namespace rthiss::test {

struct PairTable {
  std::size_t queries = 0, points = 0;
  std::vector<double> values;  ///< [queries x points] distance or similarity; NaN where a row takes no part
  bool similarity = false;

  [[nodiscard]] double value(std::size_t query, std::size_t point) const { return values[query * points + point]; }
  [[nodiscard]] bool within(std::size_t query, std::size_t point, double radius) const {
    return similarity ? value(query, point) >= radius : value(query, point) <= radius;
  }

  /// Different finite values that occur, ascending.
  [[nodiscard]] std::vector<double> distinct() const {
    std::vector<double> result;
    for (const double v : values) {
      if (std::isfinite(v)) result.push_back(v);
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }
};

/// sqrt(sum) * 2^exponent rounded once to double; `root` is sqrt(sum) to 2^-61.
template <typename Exact>
double rounded_distance(long double root, int exponent, const Exact& sum) {
  const long double near = std::ldexp(root, exponent);
  double result = static_cast<double>(near);
  if (result == 0.0 && near == 0.0L) return 0.0;
  if (std::isfinite(result) && result > 0.0) {
    const double above = std::nextafter(result, std::numeric_limits<double>::infinity());
    const long double low = (static_cast<long double>(result) + std::nextafter(result, 0.0)) / 2;
    const long double high = (static_cast<long double>(result) + above) / 2;
    const long double doubt = near * 0x1p-60L;
    if (std::isfinite(above) && near - low > doubt && high - near > doubt) return result;
  }
  const Rational squared = Rational(boost::multiprecision::cpp_int(sum)) * power_of_two(2 * exponent);
  const auto at_most = [&](double value) {
    return rounds_to_at_most(value, [&](const Rational& b) { return compare_root(squared, b); });
  };
  while (!at_most(result)) result = std::nextafter(result, std::numeric_limits<double>::infinity());
  while (result > 0.0 && at_most(std::nextafter(result, 0.0))) result = std::nextafter(result, 0.0);
  return result;
}

/// Exponents of the lowest and highest bits that occur.
struct BitRange {
  int lowest = 5000, highest = -5000;

  void add(const Rows& rows) {
    for (const auto& row : rows) {
      for (const double value : row) {
        if (value == 0.0 || !std::isfinite(value)) continue;
        int exponent = 0;
        auto bits = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
        highest = std::max(highest, exponent);
        exponent -= 53;
        while (bits % 2 == 0) bits /= 2, ++exponent;
        lowest = std::min(lowest, exponent);
      }
    }
  }
};

inline bool takes_part(const std::vector<double>& row) {
  return std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
}

template <typename Integer, typename Sum>
void fill_distances(const Rows& queries, const Rows& points, int exponent, PairTable& table) {
  const auto integers = [exponent](const Rows& rows) {
    std::vector<std::vector<Integer>> result(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!takes_part(rows[i])) continue;
      for (const double value : rows[i]) {
        int e = 0;
        const auto bits = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &e), 53));
        const int shift = e - 53 - exponent;
        // The bits below the common exponent are zeros.
        result[i].push_back(bits == 0    ? Integer(0)
                            : shift >= 0 ? Integer(Integer(bits) * (Integer(1) << shift))
                                         : Integer(bits >> -shift));
      }
    }
    return result;
  };
  const auto xs = integers(queries);
  const auto ys = integers(points);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (xs[i].empty() || ys[j].empty()) continue;
      Sum sum = 0;
      for (std::size_t k = 0; k < xs[i].size(); ++k) {
        const Integer difference = xs[i][k] - ys[j][k];
        sum += Sum(difference < 0 ? Integer(-difference) : difference) *
               Sum(difference < 0 ? Integer(-difference) : difference);
      }
      table.values[i * table.points + j] = rounded_distance(std::sqrt(static_cast<long double>(sum)), exponent, sum);
    }
  }
}

/// Euclidean distances; rows with a NaN or an infinity take no part.
inline PairTable euclidean_table(const Rows& queries, const Rows& points) {
  PairTable table{queries.size(), points.size(), {}, false};
  table.values.assign(table.queries * table.points, std::numeric_limits<double>::quiet_NaN());
  BitRange range;
  range.add(queries);
  range.add(points);
  if (range.highest < range.lowest) range = {0, 1};  // nothing but zeros
  if (range.highest - range.lowest <= 56) {
    // Differences below 2^57, so that 2^13 squares sum to less than 2^128.
    fill_distances<std::int64_t, unsigned __int128>(queries, points, range.lowest, table);
  } else {
    fill_distances<boost::multiprecision::cpp_int, boost::multiprecision::cpp_int>(queries, points, range.lowest,
                                                                                   table);
  }
  return table;
}

/// By long double where that is far enough from the borders between doubles, else by the oracle.
inline double rounded_cosine(const std::vector<double>& x, const std::vector<double>& y, bool similarity) {
  long double xy = 0, xx = 0, yy = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    xy += static_cast<long double>(x[k]) * y[k];
    xx += static_cast<long double>(x[k]) * x[k];
    yy += static_cast<long double>(y[k]) * y[k];
  }
  const long double cosine = xy / (std::sqrt(xx) * std::sqrt(yy));
  const long double near = similarity ? cosine : 1 - cosine;
  const auto result = static_cast<double>(near);
  const auto border = [&](double to) { return (static_cast<long double>(result) + std::nextafter(result, to)) / 2; };
  const long double doubt = static_cast<long double>(x.size() + 8) * 0x1p-62L;
  if (near - border(-3.0) > doubt && border(3.0) - near > doubt) return result;
  const OracleCosine exact(x.data(), y.data(), x.size());
  const auto at_most = [&](double value) {
    return rounds_to_at_most(
        value, [&](const Rational& b) { return similarity ? exact.compare(b) : -exact.compare(Rational(1 - b)); });
  };
  for (const double value : {result, std::nextafter(result, -3.0), std::nextafter(result, 3.0), 0.0, 1.0}) {
    if (value >= (similarity ? -1.0 : 0.0) && value <= (similarity ? 1.0 : 2.0) && at_most(value) &&
        !at_most(std::nextafter(value, -3.0))) {
      return value;
    }
  }
  return similarity ? oracle_cosine_similarity(x.data(), y.data(), x.size())
                    : oracle_cosine_distance(x.data(), y.data(), x.size());
}

/// Cosine similarities or distances of a set with itself; rows of zeros take no part either.
inline PairTable cosine_table(const Rows& rows, bool similarity) {
  PairTable table{rows.size(), rows.size(), {}, similarity};
  table.values.assign(rows.size() * rows.size(), std::numeric_limits<double>::quiet_NaN());
  const auto usable = [](const std::vector<double>& row) {
    return takes_part(row) && std::any_of(row.begin(), row.end(), [](double value) { return value != 0.0; });
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (!usable(rows[i]) || !usable(rows[j])) continue;
      table.values[i * rows.size() + j] = table.values[j * rows.size() + i] =
          rounded_cosine(rows[i], rows[j], similarity);
    }
  }
  return table;
}

}  // namespace rthiss::test
