#pragma once

#include <cstddef>
#include <optional>

#include "distance/pair_decider.hpp"
#include "distance/radius_threshold.hpp"

namespace rthiss {

/// distance(x, y) = RN64(sqrt(sum (x_k - y_k)^2)) <= radius, for a finite radius or +infinity.
class EuclideanDecider final : public PairDecider {
 public:
  EuclideanDecider(double radius, std::size_t columns, const ValueGrid& grid);

  [[nodiscard]] bool within(const double* x, const double* y, TierCounts& counts) const override;
  [[nodiscard]] double value(const double* x, const double* y) const override;
  [[nodiscard]] FilterThreshold filter_threshold() const override { return filter_; }
  [[nodiscard]] DoubleLimits double_limits() const override { return {in_, out_}; }
  [[nodiscard]] std::optional<double> grid_limit() const override { return grid_limit_; }

 private:
  [[nodiscard]] bool within_near_tie(double sum, const double* x, const double* y, TierCounts& counts) const;

  std::size_t columns_;
  std::optional<RadiusThreshold> threshold_;  // none: the radius is infinite
  FilterThreshold filter_;
  std::optional<double> grid_limit_;

  // The double tier: a computed sum <= in_ proves a neighbour, > out_ proves none.
  double in_;
  double out_;
  // A computed sum below this is the exact sum (0: never).
  double exact_below_ = 0.0;
  double relative_dd_;  // double_double_bound(columns)
};

}  // namespace rthiss
