#pragma once

#include <cstddef>

#include "distance/double_double.hpp"

/// Sums over the components of two rows of float64, with the widest vectors of the machine. Every function here may
/// sum in any order and with or without FMA: its bound holds for all of them. u = 2^-53.
namespace rthiss {

/// s = sum (x_k - y_k)^2 in float64, with |result - s| <= (d + 3) u / (1 - (d + 3) u) * s + d * 2^-1074.
/// Never NaN for finite rows; +inf where it overflows.
/// A difference rounds once, a square once, and a term meets at most d - 1 further roundings whatever the tree of
/// additions: (1 + u)^(d + 2) - 1. Only products underflow, by at most 2^-1075 each.
[[nodiscard]] double squared_distance(const double* x, const double* y, std::size_t columns) noexcept;

/// The relative bound of the double-double sums below: 4 (d + 70)^2 u^2, rounded up.
/// Let N <= d + 64 be the additions in a tree of sums that starts from up to 64 lanes. Each addition's rounding error
/// e_j, |e_j| <= u S, and each term's low part t_k, |t_k| <= 3 u |term|, is kept, and these at most 2 N numbers are
/// added in plain float64: that loses at most 2 N u * (N + 3) u S (1 + 2 N u)^2 <= 3 (d + 67)^2 u^2 S. The low parts
/// themselves are off by 4 u^2 |term| (rounding of the low part, square of the low part of the difference left out).
[[nodiscard]] double double_double_bound(std::size_t columns) noexcept;

/// s = sum (scale (x_k - y_k))^2 with |result - s| <= double_double_bound(d) * s. `scale`: a power of two such that
/// 2^-800 <= s <= 2^1000 (then all that underflows is below 2^-200 of the bound). Not finite where a difference
/// overflows.
[[nodiscard]] DoubleDouble squared_distance_dd(const double* x, const double* y, std::size_t columns,
                                               double scale) noexcept;

template <typename Real>
struct CosineSums {
  Real xy;  ///< sum x_k y_k
  Real xx;  ///< sum x_k^2
  Real yy;  ///< sum y_k^2
};

/// In float64. With g = d u / (1 - d u): |xy - exact| <= g |x||y|, xx and yy relative g; plus d * 2^-1074 each.
[[nodiscard]] CosineSums<double> cosine_sums(const double* x, const double* y, std::size_t columns) noexcept;

/// In double-double. With b = double_double_bound(d): |xy - exact| <= b |x||y|, xx and yy relative b, where the exact
/// xx and yy lie in [2^-700, 2^900].
[[nodiscard]] CosineSums<DoubleDouble> cosine_sums_dd(const double* x, const double* y, std::size_t columns) noexcept;

/// max |x_k - y_k| as rounded to float64.
[[nodiscard]] double largest_difference(const double* x, const double* y, std::size_t columns) noexcept;

}  // namespace rthiss
