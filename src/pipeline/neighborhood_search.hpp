#pragma once

#include <rthiss/neighborhood.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/result_sink.hpp>
#include <rthiss/statistics.hpp>

#include <cstdint>
#include <optional>
#include <span>

#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "pipeline/prepared_points.hpp"

namespace rthiss {

/// What one search with a neighbourhood is about. The referenced objects outlive the search.
struct NeighborhoodRequest {
  const Dataset* points = nullptr;
  const Dataset* queries = nullptr;  ///< null: self-join
  /// The only queries whose rows are wanted, ascending; they keep their numbers. None: all. The sink is still told the
  /// number of all queries, and gets no row of the others.
  std::optional<std::span<const std::uint32_t>> subset;
  Neighborhood neighborhood;
};

/// Searches through `SearchPipeline`, once for each class of similar radii, and sorts out the rest exactly
/// (`NeighborhoodSink`). `kept`: as for SearchPipeline. Adds to `statistics` what all searches did. Throws as Searcher
/// does.
void search_neighborhood(const Engine& engine, const SearchOptions& options, const NeighborhoodRequest& request,
                         ResultSink& sink, SearchStatistics& statistics, Observer* observer, KeptPoints* kept);

/// Adds the work of another search to `sum`, and takes over what it says of the data and the choices.
void add_statistics(SearchStatistics& sum, const SearchStatistics& other);

}  // namespace rthiss
