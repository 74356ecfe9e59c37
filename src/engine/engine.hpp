#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "candidates/candidate_lists.hpp"
#include "common/parallel.hpp"
#include "refinement/refinement_task.hpp"

namespace rthiss {

/// Decides candidates of one search. Owns reordered copies of the rows and scratch of the workers.
class Refiner {
 public:
  virtual ~Refiner() = default;

  /// Decides every pair of the lists (`mirror`: also enters (point, query) for blocks in [block_begin, block_end) that
  /// are not the group itself: a self-join in which each pair of groups stands once). Synchronous.
  virtual RefinementCounts refine(const CandidateLists& lists, const CandidateRange& range, bool mirror,
                                  const RefinementResult& result, RefinementProgress& progress) = 0;
};

/// Arithmetic of the stages on one kind of hardware. Owns its threads.
class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual const ThreadPool& pool() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Refiner> make_refiner(const RefinementTask& task) const = 0;
};

}  // namespace rthiss
