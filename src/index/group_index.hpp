#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "grouping/group_bounds.hpp"

namespace rthiss {

class SettledGroups;
class ThreadPool;

/// How an index decides that a group may hold a neighbour of a block of queries.
struct CandidateTest {
  double radius = 0.0;         ///< in the projection's scale; finite, >= 0
  std::size_t components = 3;  ///< the first that many of the bounds are used
  bool sphere_boxes = false;   ///< the paper's primitives: AABB of the bounding sphere instead of the tight box
  bool box_distance = true;    ///< least distance from box to box; false: overlap with the box widened by the radius
};

/// A range of query blocks, and which groups count for them.
struct CandidateRange {
  const GroupBounds* blocks = nullptr;
  std::uint32_t block_begin = 0, block_end = 0;
  std::uint32_t group_begin = 0, group_end = 0;
  /// Self-join over the same groups: a group g with block_begin <= g < block is left out, because the pair of groups
  /// (g, block) already stands at block g of this range.
  bool each_pair_once = false;
  /// For a range that is visited in parts: block_begin of the whole. Unset: this range is the whole.
  std::optional<std::uint32_t> whole_block_begin = std::nullopt;
  /// Groups that these settle for a block are left out (a search that only counts).
  const SettledGroups* settled = nullptr;
};

/// Finds the groups near query blocks.
///
/// Contract: for each block the result is a superset of the groups that hold a point within the radius of one of the
/// block's queries, rounding and projection errors of both counted in; ascending group ids, none twice; the same
/// for every call (so that a counting and a filling pass agree).
class GroupIndex {
 public:
  /// Called once for each block of a range, from several threads, blocks in no specified order. `worker` in
  /// [0, pool.threads()) names per-worker scratch: no two calls at a time share it. The span dies with the call.
  using Visitor = std::function<void(std::uint32_t block, std::span<const std::uint32_t> groups, int worker)>;

  virtual ~GroupIndex() = default;
  [[nodiscard]] virtual std::string describe() const = 0;
  /// `bounds` must outlive the index. An index is built anew for each radius.
  virtual void build(const GroupBounds& bounds, const CandidateTest& test, const ThreadPool& pool) = 0;
  virtual void visit(const CandidateRange& range, const ThreadPool& pool, const Visitor& visitor) const = 0;
  /// Bytes that `build` will take for that many groups.
  [[nodiscard]] virtual std::uint64_t estimated_bytes(std::size_t groups, std::size_t components) const = 0;
};

}  // namespace rthiss
