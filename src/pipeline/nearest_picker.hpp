#pragma once

#include <rthiss/options.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataset/dataset.hpp"
#include "distance/pair_decider.hpp"

namespace rthiss {

/// Picks of a query's candidates the nearest: the first by (distance, id), where the distance is the correctly rounded
/// one; by falling similarity with that metric. Const calls are thread-safe, each with a scratch of its own.
class NearestPicker {
 public:
  struct Candidate {
    double key = 0;  ///< ascending with the distance
    std::uint32_t id = 0;

    friend bool operator<(const Candidate& a, const Candidate& b) noexcept {
      return a.key < b.key || (a.key == b.key && a.id < b.id);
    }
  };
  struct Scratch {
    std::vector<double> row;             ///< [columns]
    std::vector<double> approximations;  ///< of the candidates
    std::vector<double> sorted;
    std::vector<Candidate> candidates;
  };

  /// `points` outlives the picker. `grid`: of both sides of the search.
  NearestPicker(const Dataset& points, Metric metric, const ValueGrid& grid);

  /// Moves the nearest `k` of `ids` to the front, ascending by id. x: [columns]; k < ids.size().
  void pick(const double* x, std::span<std::uint32_t> ids, std::size_t k, Scratch& scratch) const;

  /// The value that is handed out: distance or similarity, correctly rounded.
  [[nodiscard]] double value(const double* x, const double* y) const { return decider_->value(x, y); }

 private:
  /// Grows with the distance; its error is what `slack` allows for. NaN where that does not hold.
  [[nodiscard]] double approximate(const double* x, const double* y) const;
  /// Whoever is among the nearest has an approximation of at most this, if that of the k-th smallest is `kth`.
  [[nodiscard]] double with_slack(double kth) const;

  const Dataset& points_;
  Metric::Kind kind_;
  std::unique_ptr<PairDecider> decider_;
};

}  // namespace rthiss
