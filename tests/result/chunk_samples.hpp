#pragma once

#include <rthiss/neighbor_lists.hpp>
#include <rthiss/result_sink.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace rthiss::testing {

/// Rows as plain vectors: what every sink is compared with.
struct Rows {
  std::uint64_t points = 0;
  bool has_distances = false;
  std::vector<std::vector<std::uint32_t>> ids;
  std::vector<std::vector<double>> distances;

  [[nodiscard]] ResultShape shape() const { return {ids.size(), points, has_distances}; }
};

/// Random rows: about a third empty, ascending ids, some distances exactly zero.
inline Rows random_rows(std::uint64_t queries, std::uint64_t points, bool has_distances, unsigned seed) {
  std::mt19937 random(seed);
  Rows rows{points, has_distances, {}, {}};
  rows.ids.resize(queries);
  rows.distances.resize(queries);
  for (std::uint64_t i = 0; i < queries; ++i) {
    if (random() % 3 == 0) continue;
    for (std::uint32_t j = 0; j < points; ++j) {
      if (random() % 4 != 0) continue;
      rows.ids[i].push_back(j);
      if (has_distances) rows.distances[i].push_back(random() % 5 == 0 ? 0.0 : 1.0 / (1.0 + random()));
    }
  }
  return rows;
}

inline NeighborChunk make_chunk(const Rows& rows, std::span<const std::uint32_t> queries) {
  NeighborChunk chunk{Array<std::uint32_t>(queries), Array<std::uint64_t>(queries.size() + 1, 0), {}, {}};
  std::vector<std::uint32_t> ids;
  std::vector<double> distances;
  for (std::size_t r = 0; r < queries.size(); ++r) {
    const std::uint32_t q = queries[r];
    ids.insert(ids.end(), rows.ids[q].begin(), rows.ids[q].end());
    distances.insert(distances.end(), rows.distances[q].begin(), rows.distances[q].end());
    chunk.row_begin[r + 1] = ids.size();
  }
  chunk.neighbor_ids = Array<std::uint32_t>(std::span<const std::uint32_t>(ids));
  chunk.distances = Array<double>(std::span<const double>(distances));
  return chunk;
}

inline std::vector<std::uint32_t> all_queries(const Rows& rows) {
  std::vector<std::uint32_t> queries(rows.ids.size());
  std::iota(queries.begin(), queries.end(), 0u);
  return queries;
}

/// Feeds everything as one chunk in the caller's order.
inline void feed_whole(ResultSink& sink, const Rows& rows) {
  sink.begin(rows.shape());
  sink.consume(make_chunk(rows, all_queries(rows)));
  sink.finish();
}

/// Feeds `chunks` chunks of randomly chosen queries; some may be empty.
inline void feed_shuffled(ResultSink& sink, const Rows& rows, std::size_t chunks, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<std::uint32_t>> parts(chunks);
  for (const std::uint32_t q : all_queries(rows)) parts[random() % chunks].push_back(q);
  sink.begin(rows.shape());
  for (const auto& part : parts) sink.consume(make_chunk(rows, part));
  sink.finish();
}

/// True when the lists are exactly these rows.
inline bool same(const NeighborLists& lists, const Rows& rows) {
  if (lists.begin.size() != rows.ids.size() + 1 || lists.begin[0] != 0) return false;
  if (lists.ids.size() != lists.pairs()) return false;
  if (lists.distances.size() != (rows.has_distances ? lists.pairs() : 0)) return false;
  for (std::size_t i = 0; i < rows.ids.size(); ++i) {
    const auto row = lists.row(i);
    if (!std::equal(row.begin(), row.end(), rows.ids[i].begin(), rows.ids[i].end())) return false;
    if (!rows.has_distances) continue;
    const auto distances = lists.distances.span().subspan(lists.begin[i], row.size());
    if (!std::equal(distances.begin(), distances.end(), rows.distances[i].begin(), rows.distances[i].end()))
      return false;
  }
  return true;
}

}  // namespace rthiss::testing
