#include "io/result_rows.hpp"

#include <algorithm>

namespace rthiss::io {

void ResultRows::add(NeighborChunk&& chunk) {
  check_.accept(chunk);
  if (holds_all_queries(chunk, shape())) {
    whole_ = std::make_unique<NeighborChunk>(std::move(chunk));
    return;
  }
  if (chunk.query_ids.empty()) return;
  if (!spool_) spool_ = std::make_unique<SpoolFile>(output_);
  SpooledChunk kept;
  kept.ids_offset = spool_->append(chunk.neighbor_ids.data(), chunk.neighbor_ids.size() * sizeof(std::uint32_t));
  kept.distances_offset = spool_->append(chunk.distances.data(), chunk.distances.size() * sizeof(double));
  kept.query_ids = std::move(chunk.query_ids);
  kept.row_begin = std::move(chunk.row_begin);
  chunks_.push_back(std::move(kept));
}

void ResultRows::seal() {
  check_.finish();
  if (whole_) return;
  row_begin_ = Array<std::uint64_t>(shape().queries + 1, 0);
  for (const SpooledChunk& chunk : chunks_) {
    for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
      row_begin_[chunk.query_ids[r] + std::size_t{1}] = chunk.row_begin[r + 1] - chunk.row_begin[r];
    }
  }
  for (std::size_t i = 1; i < row_begin_.size(); ++i) row_begin_[i] += row_begin_[i - 1];
}

void ResultRows::for_windows(const std::function<void(std::uint64_t, std::uint64_t)>& body) const {
  const Array<std::uint64_t>& begin = row_begin();
  for (std::uint64_t first = 0; first < shape().queries;) {
    const auto* after = std::upper_bound(begin.begin() + first, begin.end(), begin[first] + kWindowPairs);
    const std::uint64_t last =
        std::max<std::uint64_t>(first + 1, static_cast<std::uint64_t>(after - begin.begin()) - 1);
    body(first, last);
    first = last;
  }
}

template <typename T>
void ResultRows::gather(std::uint64_t first, std::uint64_t last, std::uint64_t SpooledChunk::*offset, Array<T>& window,
                        Array<T>& piece) {
  const auto grow = [](Array<T>& array, std::uint64_t size) {
    if (array.size() < size) array = Array<T>(std::max(size, kWindowPairs));
  };
  grow(window, row_begin_[last] - row_begin_[first]);
  for (const SpooledChunk& chunk : chunks_) {
    // Ids ascend within a chunk, so its rows of this window are one run of the spool.
    const std::uint32_t* ids = chunk.query_ids.begin();
    const auto from = static_cast<std::size_t>(std::lower_bound(ids, chunk.query_ids.end(), first) - ids);
    const auto to = static_cast<std::size_t>(std::lower_bound(ids + from, chunk.query_ids.end(), last) - ids);
    const std::uint64_t start = chunk.row_begin[from];
    const std::uint64_t count = chunk.row_begin[to] - start;
    if (count == 0) continue;
    grow(piece, count);
    spool_->read(chunk.*offset + start * sizeof(T), piece.data(), count * sizeof(T));
    for (std::size_t r = from; r < to; ++r) {
      std::copy(piece.data() + (chunk.row_begin[r] - start), piece.data() + (chunk.row_begin[r + 1] - start),
                window.data() + (row_begin_[ids[r]] - row_begin_[first]));
    }
  }
}

std::span<const std::uint32_t> ResultRows::ids(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t start = row_begin()[first], count = row_begin()[last] - start;
  if (whole_) return whole_->neighbor_ids.span().subspan(start, count);
  gather(first, last, &SpooledChunk::ids_offset, ids_window_, ids_piece_);
  return ids_window_.span().first(count);
}

std::span<const double> ResultRows::distances(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t start = row_begin()[first], count = row_begin()[last] - start;
  if (whole_) return whole_->distances.span().subspan(start, count);
  gather(first, last, &SpooledChunk::distances_offset, distances_window_, distances_piece_);
  return distances_window_.span().first(count);
}

}  // namespace rthiss::io
