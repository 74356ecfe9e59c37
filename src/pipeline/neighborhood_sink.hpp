#pragma once

#include <rthiss/neighborhood.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/result_sink.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dataset/dataset.hpp"
#include "pipeline/nearest_filter.hpp"
#include "pipeline/nearest_picker.hpp"

namespace rthiss {

class ThreadPool;

/// Stands between searches with one radius and the sink of a search with a `Neighborhood`: takes rows that hold all
/// neighbours and maybe more, and hands on what each query's own radius, the shell and the limit of neighbours leave.
///
/// What the rule decides, the exact decider decides on the stored rows. Memory: what a chunk holds, once more.
class NeighborhoodSink final : public ResultSink {
 public:
  struct Search {
    const Dataset* points = nullptr;
    const Dataset* queries = nullptr;  ///< equal to `points` in a self-join
    const Neighborhood* neighborhood = nullptr;
    const SearchOptions* options = nullptr;
    const ThreadPool* pool = nullptr;
    Observer* observer = nullptr;
    bool self_join = false;
    std::uint64_t budget = 0;  ///< bytes
  };
  /// Calls begin of `inner`.
  NeighborhoodSink(const Search& search, ResultSink& inner);

  /// What the next chunks are: rows of `queries` (empty: all, in order), found with `radius`.
  void start_part(std::span<const std::uint32_t> queries, double radius);
  /// After the last chunk of the last part; calls finish of `inner`.
  void finish_all();

  void consume(NeighborChunk&& chunk) override;

  [[nodiscard]] std::uint64_t pairs() const noexcept { return pairs_; }
  [[nodiscard]] std::uint64_t self_pairs() const noexcept { return self_pairs_.load(); }

 private:
  struct Scratch;

  [[nodiscard]] bool keeps_all_ids() const;
  /// Moves what is kept of a row to its front, ascending, and returns how many.
  [[nodiscard]] std::size_t filter_row(std::uint32_t query, std::span<std::uint32_t> ids, Scratch& scratch) const;
  void filter_rows(NeighborChunk& chunk, std::span<std::uint64_t> kept) const;
  /// The rows without what is not kept.
  [[nodiscard]] NeighborChunk compacted(NeighborChunk&& chunk, std::span<const std::uint64_t> kept) const;
  void add_distances(NeighborChunk& chunk) const;
  void check_limits() const;
  void stop_if_cancelled() const;

  Search search_;
  ResultSink& inner_;
  ResultShape shape_;
  ValueGrid grid_;
  NearestPicker picker_;
  std::optional<NearestFilter> near_;    // where only the nearest are wanted
  std::unique_ptr<PairDecider> inside_;  // of the shell's inner radius

  std::span<const std::uint32_t> part_;
  double part_radius_ = 0;
  Array<std::uint64_t> counts_;  // for sinks of counts
  std::uint64_t pairs_ = 0;
  mutable std::atomic<std::uint64_t> self_pairs_{0};
};

}  // namespace rthiss
