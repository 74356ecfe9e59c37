#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/group_rows.hpp"
#include "refinement/filter_limits.hpp"
#include "simd/tile.hpp"

namespace rthiss::cpu {

/// Decides the pairs that a tile's dense filter left open: by more components, by all coordinates, and by the exact
/// tiers.
class PairStage {
 public:
  /// Scratch of one worker.
  struct Scratch {
    explicit Scratch(std::size_t columns) : query(columns), point(columns) {}

    static constexpr std::size_t kRoom = simd::kTileSide * simd::kTileSide + simd::kPairPadding;
    std::size_t count = 0;  ///< pairs that are open
    simd::TilePair pairs[kRoom];
    union {
      float sums[kRoom];
      std::uint32_t integer_sums[kRoom];
    };
    std::vector<double> query, point;  ///< [columns] rows as stored
    TierCounts decided;                ///< by the exact tiers
  };

  PairStage(const RefinementTask& task, const FilterLimits& limits, const GroupRows& queries, const GroupRows& points);

  /// Sets the bits of `words` for those of the scratch's open pairs that are neighbours. Pairs count from positions
  /// `query_begin` of `block` and `point_begin` of `group`.
  void decide(Scratch& scratch, std::uint32_t block, std::uint32_t query_begin, std::uint32_t group,
              std::uint32_t point_begin, std::uint64_t* words) const;

 private:
  void keep_near_in_fine(Scratch& scratch, std::uint32_t block, std::uint32_t query_begin, std::uint32_t group,
                         std::uint32_t point_begin) const;
  void decide_bytes(Scratch& scratch, std::uint32_t query_begin, std::uint32_t point_begin, std::uint64_t* words) const;
  [[nodiscard]] bool decide_exactly(Scratch& scratch, std::uint32_t query, std::uint32_t point) const;

  const RefinementTask& task_;
  const FilterLimits& limits_;
  const GroupRows& queries_;
  const GroupRows& points_;
  float integer_limit_ = -1.0F;   // >= 0: float32 sums over all coordinates decide exactly
  std::uint32_t byte_limit_ = 0;  // rows of bytes: neighbours have at most this sum
};

/// The largest integer sum of squares of a pair of neighbours where float32 sums decide exactly, else -1. On integer
/// images a computed sum of squares up to 2^24 has no rounding, and a larger exact sum gives a computed one of at least
/// 2^24, whatever the order of the additions; so below that limit the comparison is exact.
[[nodiscard]] float exact_integer_limit(const RefinementTask& task);

}  // namespace rthiss::cpu
