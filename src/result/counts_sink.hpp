#pragma once

#include <rthiss/array.hpp>
#include <rthiss/result_sink.hpp>

#include "result/chunk_check.hpp"

namespace rthiss {

/// Keeps the number of neighbours of each query, in the caller's order. Memory: 8 bytes a query.
class CountsSink : public ResultSink {
 public:
  [[nodiscard]] bool counts_only() const override { return true; }
  [[nodiscard]] ResultCost cost(const ResultShape& shape, std::uint64_t /*pairs*/) const override {
    ResultCost cost;
    cost.memory_bytes = shape.queries * sizeof(std::uint64_t);
    return cost;
  }
  void begin(const ResultShape& shape) override;
  /// Rows are counted and dropped, for producers that have lists anyway.
  void consume(NeighborChunk&& chunk) override;
  void consume_counts(std::span<const std::uint64_t> counts) override;
  void finish() override;

  /// [queries]; valid after `finish`.
  [[nodiscard]] const Array<std::uint64_t>& counts() const noexcept { return counts_; }
  [[nodiscard]] Array<std::uint64_t> take() noexcept { return std::move(counts_); }
  /// Sum of the counts: ordered pairs.
  [[nodiscard]] std::uint64_t pairs() const noexcept { return pairs_; }

 private:
  ChunkCheck check_;
  bool counted_ = false;
  Array<std::uint64_t> counts_;
  std::uint64_t pairs_ = 0;
};

}  // namespace rthiss
