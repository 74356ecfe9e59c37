#pragma once

#include <cstddef>

#include "distance/double_double.hpp"
#include "distance/dyadic.hpp"
#include "distance/exact_sums.hpp"
#include "distance/pair_decider.hpp"

namespace rthiss {

/// RN64(x.y / (|x| |y|)) >= similarity, or RN64(1 - x.y / (|x| |y|)) <= radius. Rows of zeros have no direction:
/// neither within() nor value() may be called with one (the caller refuses such rows, or takes them out).
class CosineDecider final : public PairDecider {
 public:
  /// `kind`: kCosineSimilarity with `value` in [-1, 1], or kCosineDistance with `value` >= 0 (+infinity too).
  CosineDecider(Metric::Kind kind, double value, std::size_t columns, const ValueGrid& grid);

  [[nodiscard]] bool within(const double* x, const double* y, TierCounts& counts) const override;
  [[nodiscard]] double value(const double* x, const double* y) const override;
  [[nodiscard]] FilterThreshold filter_threshold() const override { return filter_; }

 private:
  [[nodiscard]] bool within_near_tie(const double* x, const double* y, TierCounts& counts) const;
  [[nodiscard]] ExactCosineSums exact_sums(const double* x, const double* y) const;
  void set_limit(const Dyadic& limit);

  bool similarity_;
  std::size_t columns_;
  bool sums_exact_;  // float64 sums of products of these values never round

  // Neighbours iff cos > limit_, or cos == limit_ and tie_is_within_.
  Dyadic limit_;
  bool tie_is_within_ = false;
  DoubleDouble limit_dd_;  // to 2^-105 relative
  FilterThreshold filter_;

  // The double tier: a computed cosine > in_ proves a neighbour, < out_ proves none.
  double in_;
  double out_;
  double error_dd_;  // of a cosine in double-double, absolute
};

}  // namespace rthiss
