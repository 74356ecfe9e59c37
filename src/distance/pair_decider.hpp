#pragma once

#include <rthiss/options.hpp>
#include <rthiss/statistics.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>

#include "dataset/value_grid.hpp"

namespace rthiss {

/// Where a filter may decide, in terms of the exact real number s = |x - y|^2 (Euclidean metric), or
/// s = |x/|x| - y/|y||^2 (cosine metrics): s <= `in_below` proves a neighbour, s > `out_above` proves none.
/// Both are doubles that enclose the true threshold; in_below may be negative (nothing can be proven in).
struct FilterThreshold {
  double in_below = 0.0;
  double out_above = 0.0;
  bool accepts_everything = false;  ///< every pair of finite rows is a neighbour (radius = +inf, ...)
  bool accepts_nothing = false;
};

/// For a sum of squared differences computed in float64, in any order, with or without FMA: a sum <= `in` proves a
/// neighbour, a sum > `out` proves none. +inf counts like any other sum.
struct DoubleLimits {
  double in = -1.0;
  double out = std::numeric_limits<double>::infinity();
};

/// Decides single pairs of rows by the tiers double, double-double and exact (docs/exactness.md). The rows are given
/// in float64, as stored (never normalised, centred or scaled), finite, and under a FloatingPointScope. With a cosine
/// metric no row may be all zeros: such a row has no direction, and the caller refuses it or takes it out. Const calls
/// are thread-safe.
class PairDecider {
 public:
  virtual ~PairDecider() = default;

  /// Is (x, y) a pair of neighbours? x, y: [columns]. Adds 1 to the tier that decided.
  [[nodiscard]] virtual bool within(const double* x, const double* y, TierCounts& counts) const = 0;

  /// The value handed to the user: distance, cosine distance or cosine similarity, rounded once to float64.
  [[nodiscard]] virtual double value(const double* x, const double* y) const = 0;

  [[nodiscard]] virtual FilterThreshold filter_threshold() const = 0;
  /// Of the double tier; decides nothing where another metric than the Euclidean one is asked for.
  [[nodiscard]] virtual DoubleLimits double_limits() const { return {}; }

  /// Euclidean metric on a grid: the largest integer L <= m^2 / 4^exponent, so that a pair is within iff its sum of
  /// squared integer differences is <= L. Empty where there is no grid or L >= 2^53.
  [[nodiscard]] virtual std::optional<double> grid_limit() const { return std::nullopt; }
};

/// `value`: radius, cosine distance or cosine similarity. Throws InvalidArgument for NaN, a negative radius, and a
/// similarity outside [-1, 1].
[[nodiscard]] std::unique_ptr<PairDecider> make_pair_decider(Metric metric, double value, std::size_t columns,
                                                             const ValueGrid& grid);

}  // namespace rthiss
