#pragma once

#include <rthiss/array.hpp>

#include <cstdint>
#include <span>

namespace rthiss {

/// Complete result rows of some queries, CSR inside. Host memory, owning.
/// Every query of a search appears in exactly one chunk. The order of chunks is not specified; within a chunk
/// `query_ids` ascends. A sink that must place rows in the caller's order does so by these ids.
struct NeighborChunk {
  Array<std::uint32_t> query_ids;     ///< [rows] in the caller's numbering, ascending
  Array<std::uint64_t> row_begin;     ///< [rows + 1]; starts at 0
  Array<std::uint32_t> neighbor_ids;  ///< [row_begin.back()] in the caller's numbering, ascending within a row
  Array<double> distances;            ///< [row_begin.back()] or empty
};

/// What a sink learns before the first row.
struct ResultShape {
  std::uint64_t queries = 0;
  std::uint64_t points = 0;
  bool has_distances = false;
};

/// What keeping a result costs; compared with the limits before work starts.
struct ResultCost {
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::uint64_t disk_free = ~std::uint64_t{0};  ///< bytes free where the disk bytes would go
};

/// Where results go: the pipeline's one exit. Calls come from one thread at a time, in the order
/// begin, consume*, finish; after an error or a cancellation finish is not called and the sink drops what it has.
class ResultSink {
 public:
  virtual ~ResultSink() = default;

  /// True for sinks that need only the number of neighbours of each query: then `consume_counts` is called once, and
  /// `consume` never; lists are not built.
  [[nodiscard]] virtual bool counts_only() const { return false; }
  /// Cost of a result of `pairs` ordered pairs, at the sink's peak.
  [[nodiscard]] virtual ResultCost cost(const ResultShape& /*shape*/, std::uint64_t /*pairs*/) const { return {}; }
  virtual void begin(const ResultShape& /*shape*/) {}
  virtual void consume(NeighborChunk&& chunk) = 0;
  /// [queries] neighbours of each query, in the caller's order.
  virtual void consume_counts(std::span<const std::uint64_t> /*counts*/) {}
  virtual void finish() {}
};

}  // namespace rthiss
