#include "result/counts_sink.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>

namespace rthiss {

void CountsSink::begin(const ResultShape& shape) {
  check_.begin(shape);
  counted_ = false;
  counts_ = Array<std::uint64_t>(shape.queries, 0);
  pairs_ = 0;
}

void CountsSink::consume(NeighborChunk&& chunk) {
  check_.accept(chunk);
  for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
    counts_[chunk.query_ids[r]] = chunk.row_begin[r + 1] - chunk.row_begin[r];
  }
}

void CountsSink::consume_counts(std::span<const std::uint64_t> counts) {
  if (counts.size() != counts_.size()) {
    throw InvalidArgument(fmt::format("result: {} counts for {} queries", counts.size(), counts_.size()));
  }
  std::copy(counts.begin(), counts.end(), counts_.begin());
  counted_ = true;
}

void CountsSink::finish() {
  if (!counted_) check_.finish();
  for (const std::uint64_t count : counts_) pairs_ += count;
}

}  // namespace rthiss
