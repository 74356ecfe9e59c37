#pragma once

#include <rthiss/neighbor_lists.hpp>
#include <rthiss/result_sink.hpp>

#include <vector>

#include "result/chunk_check.hpp"

namespace rthiss {

class ThreadPool;

/// Gathers all rows into `NeighborLists` in the caller's order.
///
/// One chunk that holds all queries is moved in without a copy. Otherwise chunks are kept until `finish`, which counts
/// and then places the rows: the ids first, then the distances, each chunk's array given back once it is copied. Peak
/// memory: 20 bytes a query and 8 bytes a pair (20 with distances), of which the result is 8 and 4 (12).
class CsrSink final : public ResultSink {
 public:
  /// `pool` copies rows in parallel; it must outlive the sink. Null: the calling thread does.
  explicit CsrSink(const ThreadPool* pool = nullptr) noexcept : pool_(pool) {}

  /// The peak that is stated above.
  [[nodiscard]] ResultCost cost(const ResultShape& shape, std::uint64_t pairs) const override {
    ResultCost cost;
    cost.memory_bytes = 20 * shape.queries + (shape.has_distances ? 20 : 8) * pairs;
    return cost;
  }
  void begin(const ResultShape& shape) override;
  void consume(NeighborChunk&& chunk) override;
  void finish() override;

  /// The result, handed over once; valid after `finish`.
  [[nodiscard]] NeighborLists take() noexcept { return std::move(lists_); }

 private:
  template <typename T>
  void place(Array<T> NeighborChunk::*source, Array<T>& target);

  const ThreadPool* pool_;
  ChunkCheck check_;
  std::vector<NeighborChunk> chunks_;
  NeighborLists lists_;
};

}  // namespace rthiss
