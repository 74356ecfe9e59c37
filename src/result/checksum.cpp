#include "result/checksum.hpp"

#include <mutex>

#include "common/parallel.hpp"

namespace rthiss {

namespace {

constexpr std::size_t kRowGrain = 64;

// The finaliser of SplitMix64: a bijection of 64-bit words in which each input bit flips about half of the output's.
std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

void PairChecksum::add_row(std::uint32_t query, std::span<const std::uint32_t> neighbors) noexcept {
  // Distinct pairs stay distinct words, since mix is a bijection; the offset keeps the pair (0, 0) from adding 0.
  const std::uint64_t row = (std::uint64_t{query} << 32) + 0x9E3779B97F4A7C15u;
  std::uint64_t total = 0;
  for (const std::uint32_t neighbor : neighbors) total += mix(row + neighbor);
  sum += total;
  pairs += neighbors.size();
}

PairChecksum checksum_of(const NeighborLists& lists) noexcept {
  PairChecksum checksum;
  for (std::uint64_t i = 0; i < lists.queries(); ++i) checksum.add_row(static_cast<std::uint32_t>(i), lists.row(i));
  return checksum;
}

void ChecksumSink::begin(const ResultShape& shape) {
  check_.begin(shape);
  checksum_ = PairChecksum{};
}

void ChecksumSink::consume(NeighborChunk&& chunk) {
  check_.accept(chunk);
  std::mutex mutex;
  const auto add_rows = [&](std::size_t first, std::size_t last) {
    PairChecksum part;
    for (std::size_t r = first; r < last; ++r) {
      const std::uint64_t begin = chunk.row_begin[r];
      part.add_row(chunk.query_ids[r], chunk.neighbor_ids.span().subspan(begin, chunk.row_begin[r + 1] - begin));
    }
    const std::lock_guard lock(mutex);
    checksum_ += part;
  };
  if (pool_ != nullptr) {
    pool_->for_ranges(0, chunk.query_ids.size(), kRowGrain, add_rows);
  } else {
    add_rows(0, chunk.query_ids.size());
  }
}

}  // namespace rthiss
