#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/group_rows.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss::cpu {

/// Decides single pairs that a tile's dense filter left open: by more components, by all coordinates in float32, and
/// by the exact tiers.
class PairStage {
 public:
  /// Scratch of one worker.
  struct Scratch {
    explicit Scratch(std::size_t columns) : query(columns), point(columns) {}
    std::vector<double> query, point;
    std::uint32_t rows[64];
    float sums[64];
    TierCounts decided;  ///< by the exact tiers
  };

  PairStage(const RefinementTask& task, const FilterLimits& limits, const GroupRows& queries, const GroupRows& points);

  /// Which of the pairs (position `query`, positions `point_begin` + bits of `open`) are neighbours.
  [[nodiscard]] std::uint64_t decide(Scratch& scratch, std::uint32_t block, std::uint32_t query, std::uint32_t group,
                                     std::uint32_t point_begin, std::uint64_t open) const;

 private:
  const RefinementTask& task_;
  const FilterLimits& limits_;
  const GroupRows& queries_;
  const GroupRows& points_;
  float integer_limit_ = -1.0F;  // >= 0: sums over all coordinates are exact integers up to this limit
};

/// The largest integer sum of squares of a pair of neighbours where float32 sums decide exactly, else -1. On integer
/// images a computed sum of squares up to 2^24 has no rounding, and a larger exact sum gives a computed one of at least
/// 2^24, whatever the order of the additions; so below that limit the comparison is exact.
[[nodiscard]] float exact_integer_limit(const RefinementTask& task);

}  // namespace rthiss::cpu
