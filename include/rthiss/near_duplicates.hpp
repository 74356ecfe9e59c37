#pragma once

#include <rthiss/array.hpp>
#include <rthiss/clustering.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/searcher.hpp>

#include <cstdint>
#include <optional>

namespace rthiss {

/// Groups of near duplicates, and which rows to keep. Host memory.
///
/// A group is a connected component of at least two rows and no clique: two of its rows may be farther apart than the
/// radius, and then a group may keep several rows.
struct NearDuplicates {
  Array<std::int64_t> labels;  ///< [n] 0-based group, numbered by lowest row; kNoLabel: no near duplicate
  Array<std::uint32_t> keep;   ///< ids to keep, ascending
  std::uint64_t groups = 0;
  std::uint64_t grouped_rows = 0;  ///< rows that are in groups
  std::uint64_t chained = 0;       ///< groups with a pair of rows that is not within the radius
  std::optional<FarPair> far;      ///< in the first such group; where chained > 0
};

/// The keep list is greedy by ascending id: a row is kept unless a kept row with a lower id is within the radius. So no
/// two kept rows are within the radius, and each row that is not kept is within the radius of a kept one. Rows that are
/// ignored as non-finite are kept and in no group.
///
/// Streamed: passes over the pairs (one, and more over few rows where neighbours are spread over many batches). Memory:
/// 33 bytes a row beside what a search takes in bounded memory; pairs are never kept. Options, statistics and errors
/// as of `dbscan`.
[[nodiscard]] NearDuplicates near_duplicates(Searcher& searcher, double radius, Observer* observer = nullptr);

}  // namespace rthiss
