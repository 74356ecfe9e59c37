#include "pipeline/neighborhood_sink.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/parallel.hpp"

namespace rthiss {

namespace {
constexpr std::size_t kRowGrain = 16;
}

struct NeighborhoodSink::Scratch {
  explicit Scratch(std::size_t columns) : query(columns), point(columns), near(columns) {}

  std::vector<double> query, point;  // [columns] rows as stored
  TierCounts decided;
  NearestFilter::Scratch near;
  NearestPicker::Scratch nearest;
};

NeighborhoodSink::NeighborhoodSink(const Search& search, ResultSink& inner)
    : search_(search),
      inner_(inner),
      shape_{search.queries->rows(), search.points->rows(), search.options->distances && !inner.counts_only()},
      grid_(search.self_join ? search.points->grid()
                             : ValueGrid::common(search.points->grid(), search.queries->grid())),
      picker_(*search.points, search.options->metric, grid_) {
  const Neighborhood& neighborhood = *search_.neighborhood;
  if (neighborhood.min_radius) {
    inside_ = make_pair_decider(search_.options->metric, *neighborhood.min_radius, search_.points->columns(), grid_);
  }
  if (neighborhood.max_neighbors) {
    near_.emplace(*search_.points, *search_.queries, search_.options->metric, neighborhood.radius, *search_.pool);
  }
  inner_.begin(shape_);
  if (inner_.counts_only()) counts_ = Array<std::uint64_t>(shape_.queries, 0);
}

void NeighborhoodSink::start_part(std::span<const std::uint32_t> queries, double radius) {
  part_ = queries;
  part_radius_ = radius;
}

void NeighborhoodSink::finish_all() {
  if (inner_.counts_only()) inner_.consume_counts(counts_.span());
  inner_.finish();
}

void NeighborhoodSink::stop_if_cancelled() const {
  if (search_.observer != nullptr && search_.observer->cancelled()) throw Cancelled();
}

std::size_t NeighborhoodSink::filter_row(std::uint32_t query, std::span<std::uint32_t> ids, Scratch& scratch) const {
  const Neighborhood& neighborhood = *search_.neighborhood;
  const bool drop_self = search_.self_join && !search_.options->include_self;
  std::unique_ptr<PairDecider> own;
  if (!neighborhood.radii.empty() && neighborhood.radii[query] != part_radius_) {
    own = make_pair_decider(search_.options->metric, neighborhood.radii[query], search_.points->columns(), grid_);
  }
  bool loaded = false;
  const auto load_query = [&] {
    if (!loaded) search_.queries->read_row(query, scratch.query.data());
    loaded = true;
  };
  std::size_t kept = 0;
  for (const std::uint32_t id : ids) {
    if (drop_self && id == query) continue;
    if (own != nullptr || inside_ != nullptr) {
      load_query();
      search_.points->read_row(id, scratch.point.data());
      const double* const x = scratch.query.data();
      const double* const y = scratch.point.data();
      if (own != nullptr && !own->within(x, y, scratch.decided)) continue;
      if (inside_ != nullptr && inside_->within(x, y, scratch.decided)) continue;
    }
    ids[kept++] = id;
  }
  if (neighborhood.max_neighbors && kept > *neighborhood.max_neighbors) {
    const std::uint64_t wanted = *neighborhood.max_neighbors;
    kept = near_->keep_near(query, ids.first(kept), wanted, scratch.near);
    if (kept > wanted) {
      load_query();
      picker_.pick(scratch.query.data(), ids.first(kept), wanted, scratch.nearest);
    }
    kept = wanted;
  }
  if (search_.self_join && !drop_self &&
      std::binary_search(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept), query)) {
    self_pairs_.fetch_add(1, std::memory_order_relaxed);
  }
  return kept;
}

void NeighborhoodSink::filter_rows(NeighborChunk& chunk, std::span<std::uint64_t> kept) const {
  search_.pool->for_ranges(0, chunk.query_ids.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    Scratch scratch(search_.points->columns());
    for (std::size_t r = begin; r < end; ++r) {
      if (r % kRowGrain == 0) stop_if_cancelled();
      const std::uint64_t first = chunk.row_begin[r];
      kept[r] = filter_row(chunk.query_ids[r], chunk.neighbor_ids.span().subspan(first, chunk.row_begin[r + 1] - first),
                           scratch);
    }
  });
}

NeighborChunk NeighborhoodSink::compacted(NeighborChunk&& chunk, std::span<const std::uint64_t> kept) const {
  NeighborChunk result;
  result.query_ids = std::move(chunk.query_ids);
  result.row_begin = Array<std::uint64_t>(kept.size() + 1);
  result.row_begin[0] = 0;
  for (std::size_t r = 0; r < kept.size(); ++r) result.row_begin[r + 1] = result.row_begin[r] + kept[r];
  if (result.row_begin.back() == chunk.row_begin.back()) {
    result.neighbor_ids = std::move(chunk.neighbor_ids);
    return result;
  }
  result.neighbor_ids = Array<std::uint32_t>(result.row_begin.back());
  for (std::size_t r = 0; r < kept.size(); ++r) {
    std::copy_n(chunk.neighbor_ids.data() + chunk.row_begin[r], kept[r],
                result.neighbor_ids.data() + result.row_begin[r]);
  }
  return result;
}

void NeighborhoodSink::add_distances(NeighborChunk& chunk) const {
  chunk.distances = Array<double>(chunk.neighbor_ids.size());
  search_.pool->for_ranges(0, chunk.query_ids.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<double> x(search_.points->columns()), y(x.size());
    for (std::size_t r = begin; r < end; ++r) {
      if (r % kRowGrain == 0) stop_if_cancelled();
      if (chunk.row_begin[r] == chunk.row_begin[r + 1]) continue;
      search_.queries->read_row(chunk.query_ids[r], x.data());
      for (std::uint64_t at = chunk.row_begin[r]; at < chunk.row_begin[r + 1]; ++at) {
        search_.points->read_row(chunk.neighbor_ids[at], y.data());
        chunk.distances[at] = picker_.value(x.data(), y.data());
      }
    }
  });
}

void NeighborhoodSink::check_limits() const {
  const std::uint64_t most = search_.options->max_results;
  if (most != 0 && pairs_ > most) {
    throw OutOfMemory(fmt::format("more than {} ordered pairs (found {} so far); raise max_results or lower the radius",
                                  most, pairs_));
  }
  const ResultCost cost = inner_.cost(shape_, pairs_);
  if (cost.memory_bytes > search_.budget) {
    throw OutOfMemory(
        fmt::format("the result has {} ordered pairs so far and needs {} bytes of memory, over the limit of {}; raise "
                    "memory_limit, write to a file, count only, or lower the radius",
                    pairs_, cost.memory_bytes, search_.budget));
  }
  if (cost.disk_bytes > cost.disk_free) {
    throw OutOfMemory(
        fmt::format("the result has {} ordered pairs so far and needs {} bytes on disk, of which {} are free", pairs_,
                    cost.disk_bytes, cost.disk_free));
  }
}

void NeighborhoodSink::consume(NeighborChunk&& chunk) {
  if (!part_.empty()) {
    for (std::uint32_t& query : chunk.query_ids) query = part_[query];
  }
  Array<std::uint64_t> kept(chunk.query_ids.size());
  filter_rows(chunk, kept.span());
  for (const std::uint64_t count : kept) pairs_ += count;
  if (inner_.counts_only()) {
    for (std::size_t r = 0; r < kept.size(); ++r) counts_[chunk.query_ids[r]] = kept[r];
    return;
  }
  check_limits();
  NeighborChunk result = compacted(std::move(chunk), kept.span());
  if (shape_.has_distances) add_distances(result);
  inner_.consume(std::move(result));
}

}  // namespace rthiss
