#pragma once

#include <rthiss/searcher.hpp>

#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "pipeline/prepared_points.hpp"

namespace rthiss {

/// What analyses that are made of many searches need of a searcher.
struct SearcherAccess {
  [[nodiscard]] static const Engine& engine(const Searcher& searcher);
  [[nodiscard]] static const Dataset& points(const Searcher& searcher);
  /// Checks queries as a search does.
  [[nodiscard]] static Dataset read_queries(const Searcher& searcher, const PointsView& queries);
  [[nodiscard]] static KeptPoints& kept(Searcher& searcher);
  [[nodiscard]] static SearchStatistics& statistics(Searcher& searcher);
};

}  // namespace rthiss
