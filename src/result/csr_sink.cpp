#include "result/csr_sink.hpp"

#include <algorithm>

#include "common/parallel.hpp"

namespace rthiss {

namespace {
constexpr std::size_t kRowGrain = 256;
}

void CsrSink::begin(const ResultShape& shape) {
  check_.begin(shape);
  chunks_.clear();
  lists_ = NeighborLists{};
}

void CsrSink::consume(NeighborChunk&& chunk) {
  check_.accept(chunk);
  if (!chunk.query_ids.empty()) chunks_.push_back(std::move(chunk));
}

template <typename T>
void CsrSink::place(Array<T> NeighborChunk::*source, Array<T>& target) {
  target = Array<T>(lists_.begin.back());
  for (NeighborChunk& chunk : chunks_) {
    const auto copy_rows = [&](std::size_t first, std::size_t last) {
      for (std::size_t r = first; r < last; ++r) {
        const T* values = (chunk.*source).data();
        std::copy(values + chunk.row_begin[r], values + chunk.row_begin[r + 1],
                  target.data() + lists_.begin[chunk.query_ids[r]]);
      }
    };
    if (pool_ != nullptr) {
      pool_->for_ranges(0, chunk.query_ids.size(), kRowGrain, copy_rows);
    } else {
      copy_rows(0, chunk.query_ids.size());
    }
    chunk.*source = Array<T>();
  }
}

void CsrSink::finish() {
  check_.finish();
  const ResultShape& shape = check_.shape();
  if (chunks_.size() == 1 && holds_all_queries(chunks_[0], shape)) {
    NeighborChunk& chunk = chunks_[0];
    lists_ = NeighborLists{std::move(chunk.row_begin), std::move(chunk.neighbor_ids), std::move(chunk.distances)};
  } else {
    lists_.begin = Array<std::uint64_t>(shape.queries + 1, 0);
    for (const NeighborChunk& chunk : chunks_) {
      for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
        lists_.begin[chunk.query_ids[r] + std::size_t{1}] = chunk.row_begin[r + 1] - chunk.row_begin[r];
      }
    }
    for (std::size_t i = 1; i < lists_.begin.size(); ++i) lists_.begin[i] += lists_.begin[i - 1];
    place(&NeighborChunk::neighbor_ids, lists_.ids);
    if (shape.has_distances) place(&NeighborChunk::distances, lists_.distances);
  }
  chunks_.clear();
}

}  // namespace rthiss
