#pragma once

#include <memory>
#include <optional>

#include "engine/engine.hpp"

namespace rthiss {

/// Decides candidates of one search in host memory. Owns reordered copies of the rows and scratch of the workers.
class Refiner {
 public:
  virtual ~Refiner() = default;

  /// Decides every pair of the lists (`mirror`: also enters (point, query) for blocks in [block_begin, block_end) that
  /// are not the group itself: a self-join in which each pair of groups stands once). Synchronous.
  virtual RefinementCounts refine(const CandidateLists& lists, const CandidateRange& range, bool mirror,
                                  const RefinementResult& result, RefinementProgress& progress) = 0;
};

/// An engine whose stages all work in host memory and differ in refinement only.
class HostEngine : public Engine {
 public:
  void check(const SearchOptions& options) const override;
  [[nodiscard]] std::string resolve_index(std::string_view name) const override;
  [[nodiscard]] std::unique_ptr<SearchStages> make_stages(const StageSetup& setup) const override;
  /// `previous`: null, or of an earlier search in the same points with the same plan, whose copy of the points' rows is
  /// taken over.
  [[nodiscard]] virtual std::unique_ptr<Refiner> make_refiner(const RefinementTask& task,
                                                              std::unique_ptr<Refiner> previous) const = 0;
};

}  // namespace rthiss
