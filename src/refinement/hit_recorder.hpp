#pragma once

#include <array>
#include <cstdint>

#include "refinement/refinement_task.hpp"

namespace rthiss {

/// Where the workers of a refinement put what they find: one recorder a worker. Takes care of both directions of a
/// mirrored pair of groups, of self pairs, and of counting instead of keeping bits.
class HitRecorder {
 public:
  HitRecorder(const RefinementTask& task, const RefinementResult& result, std::uint32_t part, bool mirror,
              std::uint64_t* whole_counts, RefinementProgress& progress);

  /// `words` [64]: bit j of word r says that query position `query_begin` + r and point position `point_begin` + j are
  /// neighbours. May be overwritten. `block` and `group` are what the positions belong to.
  void record(std::uint32_t block, std::uint32_t query_begin, std::uint32_t group, std::uint32_t point_begin,
              std::uint64_t* words);

  /// Every pair of the block and the group is a neighbour.
  void record_whole(std::uint32_t block, std::uint32_t group);

  /// One more candidate entry is decided. Tells the others now and then; false means stop.
  [[nodiscard]] bool entry_done(std::uint64_t entries = 1);

  /// Tells the others everything that is still held back.
  void flush();

 private:
  [[nodiscard]] bool mirrored(std::uint32_t block, std::uint32_t group) const;
  /// `rows`: which of the words are not 0.
  void enter(const Grouping& grouping, std::uint32_t block, std::uint32_t query_begin, std::uint32_t point_begin,
             std::uint64_t rows, const std::uint64_t* words);

  /// Pairs of a group, or of a block, accepted as a whole and not yet added to the numbers that all workers share.
  struct Pending {
    std::uint32_t group = 0;
    std::uint64_t pairs = 0;
  };
  void add_whole(Pending& pending, std::uint32_t group, std::uint64_t pairs);

  const RefinementTask& task_;
  const RefinementResult& result_;
  HitMask::Part* part_ = nullptr;
  std::uint32_t part_number_;
  bool mirror_;
  std::uint64_t* whole_counts_;
  RefinementProgress& progress_;
  // A worker stays with a few neighbouring groups for long, and goes through them block by block.
  std::array<Pending, 4> whole_groups_;
  Pending whole_block_;
  std::uint64_t pairs_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t part_limit_ = 0;
};

}  // namespace rthiss
