#pragma once

#include <rthiss/array.hpp>
#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "io/result_spool.hpp"
#include "result/chunk_check.hpp"

namespace rthiss::io {

/// Takes chunks in any order and gives their rows back in the caller's order with bounded memory.
///
/// A first chunk that holds all queries stays in memory and nothing is copied. Otherwise chunks go to a `SpoolFile`
/// beside the output (4 bytes a pair, 12 with distances) and 20 bytes a query stay in memory; rows come back in windows
/// of consecutive queries of at most kWindowPairs pairs, or of one query that has more.
class ResultRows {
 public:
  static constexpr std::uint64_t kWindowPairs = std::uint64_t{1} << 20;

  explicit ResultRows(std::filesystem::path output) : output_(std::move(output)) {}

  void begin(const ResultShape& shape) { check_.begin(shape); }
  void add(NeighborChunk&& chunk);
  /// After the last chunk; checks that every query came.
  void seal();

  [[nodiscard]] const ResultShape& shape() const noexcept { return check_.shape(); }
  /// [queries + 1] offsets of the rows; valid after `seal`, as is everything below.
  [[nodiscard]] const Array<std::uint64_t>& row_begin() const noexcept {
    return whole_ ? whole_->row_begin : row_begin_;
  }
  [[nodiscard]] std::uint64_t pairs() const noexcept { return row_begin().back(); }

  /// Calls `body(first, last)` on half-open ranges of queries, ascending, that together hold all of them.
  void for_windows(const std::function<void(std::uint64_t, std::uint64_t)>& body) const;
  /// Neighbours, or distances, of queries [first, last), valid until the next call. A whole result costs no copy.
  [[nodiscard]] std::span<const std::uint32_t> ids(std::uint64_t first, std::uint64_t last);
  [[nodiscard]] std::span<const double> distances(std::uint64_t first, std::uint64_t last);

 private:
  struct SpooledChunk {
    Array<std::uint32_t> query_ids;
    Array<std::uint64_t> row_begin;
    std::uint64_t ids_offset = 0;
    std::uint64_t distances_offset = 0;
  };

  template <typename T>
  void gather(std::uint64_t first, std::uint64_t last, std::uint64_t SpooledChunk::*offset, Array<T>& window,
              Array<T>& piece);

  std::filesystem::path output_;
  ChunkCheck check_;
  std::unique_ptr<NeighborChunk> whole_;
  std::unique_ptr<SpoolFile> spool_;
  std::vector<SpooledChunk> chunks_;
  Array<std::uint64_t> row_begin_;
  Array<std::uint32_t> ids_window_, ids_piece_;
  Array<double> distances_window_, distances_piece_;
};

}  // namespace rthiss::io
