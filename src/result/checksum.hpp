#pragma once

#include <rthiss/neighbor_lists.hpp>
#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <span>

#include "result/chunk_check.hpp"

namespace rthiss {

/// Sums one well-mixed word a pair modulo 2^64: equal sets of ordered pairs have equal checksums whatever their order
/// and chunks, and two results that differ agree by chance about once in 2^64. Distances do not enter.
struct PairChecksum {
  std::uint64_t sum = 0;
  std::uint64_t pairs = 0;

  void add_row(std::uint32_t query, std::span<const std::uint32_t> neighbors) noexcept;
  PairChecksum& operator+=(const PairChecksum& other) noexcept {
    sum += other.sum;
    pairs += other.pairs;
    return *this;
  }
  friend bool operator==(const PairChecksum&, const PairChecksum&) = default;
};

[[nodiscard]] PairChecksum checksum_of(const NeighborLists& lists) noexcept;

class ThreadPool;

/// Takes the checksum of all rows and keeps none of them.
class ChecksumSink final : public ResultSink {
 public:
  /// `pool` adds rows up in parallel; it must outlive the sink. Null: the calling thread does.
  explicit ChecksumSink(const ThreadPool* pool = nullptr) noexcept : pool_(pool) {}

  void begin(const ResultShape& shape) override;
  void consume(NeighborChunk&& chunk) override;
  void finish() override { check_.finish(); }

  [[nodiscard]] const PairChecksum& checksum() const noexcept { return checksum_; }

 private:
  const ThreadPool* pool_;
  ChunkCheck check_;
  PairChecksum checksum_;
};

}  // namespace rthiss
