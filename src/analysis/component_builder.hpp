#pragma once

#include <rthiss/array.hpp>
#include <rthiss/clustering.hpp>
#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <optional>

#include "analysis/analysis_run.hpp"
#include "analysis/disjoint_sets.hpp"

namespace rthiss {

/// Connected components from the rows of a self-join without self pairs, in whatever chunks they come. Memory: 8 bytes
/// a row.
class ComponentBuilder {
 public:
  explicit ComponentBuilder(const AnalysisRun& run);

  void add(const NeighborChunk& chunk);

  /// After the last row. `least_size`: smaller components get kNoLabel and no number. `far` is not filled.
  [[nodiscard]] Components build(std::uint32_t least_size);
  /// After `build`: a pair of rows of the first component that is no clique, with the lowest numbers. Searches for the
  /// neighbours of one row.
  [[nodiscard]] std::optional<FarPair> find_far_pair(const Components& components, double radius,
                                                     AnalysisRun& run) const;

 private:
  const AnalysisRun& run_;
  DisjointSets sets_;
  Array<std::uint32_t> degrees_;  // neighbours of each row
};

}  // namespace rthiss
