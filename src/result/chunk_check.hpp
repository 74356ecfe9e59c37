#pragma once

#include <rthiss/array.hpp>
#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <vector>

namespace rthiss {

/// Watches that the chunks of a search are well formed and hold every query exactly once. Memory: one bit a query.
class ChunkCheck {
 public:
  void begin(const ResultShape& shape);
  /// Throws InvalidArgument when array sizes disagree, ids are out of range or do not ascend, or a query comes twice.
  void accept(const NeighborChunk& chunk);
  /// Throws InvalidArgument when a query never came.
  void finish() const;

  [[nodiscard]] const ResultShape& shape() const noexcept { return shape_; }

 private:
  ResultShape shape_;
  std::vector<bool> seen_;
};

/// True when the chunk holds all queries, and therefore in the caller's order.
[[nodiscard]] inline bool holds_all_queries(const NeighborChunk& chunk, const ResultShape& shape) noexcept {
  return chunk.query_ids.size() == shape.queries;
}

}  // namespace rthiss
