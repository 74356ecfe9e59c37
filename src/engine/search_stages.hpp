#pragma once

#include <rthiss/options.hpp>
#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "batching/batch_plan.hpp"
#include "candidates/candidate_lists.hpp"
#include "engine/search_plan.hpp"
#include "index/group_index.hpp"
#include "refinement/refinement_task.hpp"

namespace rthiss {

/// What the stages of one search work on. Everything pointed to outlives them.
struct StageSetup {
  const Dataset* points = nullptr;
  const Dataset* queries = nullptr;  ///< null: self-join
  const FilterSpace* space = nullptr;
  const PairDecider* decider = nullptr;
  FilterThreshold threshold;  ///< of the decider
  const SearchPlan* plan = nullptr;
  const SearchOptions* options = nullptr;
  std::string index;  ///< as resolved by the engine
  CandidateTest test;
  bool counts_only = false;  ///< of the rows numbers alone are wanted

  [[nodiscard]] bool self_join() const noexcept { return queries == nullptr; }
};

enum class Side : std::uint8_t { kPoints, kQueries };

struct FirstTest {
  IntersectionCounts counts;
  std::uint64_t query_group = 0;  ///< (query, group) candidates: each block's groups, for each of its queries
};

/// What a refinement is to leave behind.
struct RefineRequest {
  enum class Want : std::uint8_t {
    kHits,    ///< hits stay in the slot until `start_compact`
    kCounts,  ///< numbers of neighbours are added to `counts`
    kTotal,   ///< nothing but RefinementProgress::pairs
  };
  Want want = Want::kHits;
  std::uint64_t* counts = nullptr;               ///< [queries in the caller's order]; host memory
  std::uint64_t hits_limit = ~std::uint64_t{0};  ///< bytes of hits from which MaskOverflow is thrown
  /// Blocks whose hits the slot may hold (see RefinementResult).
  std::uint32_t block_begin = 0, block_end = ~std::uint32_t{0};
};

/// One batch in flight: its candidates, its hits, and what the engine needs to work on it (a stream, scratch).
class BatchSlot {
 public:
  virtual ~BatchSlot() = default;
};

/// The stages of one search on one engine, in the pipeline's order. Data stay where the engine keeps them; only what
/// planning needs comes back. Calls come from one thread, are synchronous unless they say otherwise, and throw
/// OutOfMemory where the engine's memory does not hold what it must.
class SearchStages {
 public:
  virtual ~SearchStages() = default;

  /// Whether `start_again` may give true: then it is worth while to keep the stages when a search is over.
  [[nodiscard]] virtual bool keeps_points() const { return false; }
  /// Takes up another search in the same points, with the same plan and an equal FilterSpace: what project, group and
  /// bound made of the points stays, and is not to be called for them again; the other steps are. Gives false where
  /// that cannot be; the stages are then of no more use.
  [[nodiscard]] virtual bool start_again(const StageSetup& /*setup*/) { return false; }

  // Preparation: each once, in this order; kQueries only in a semi-join.
  virtual void project(Side side) = 0;
  virtual void group(Side side) = 0;
  virtual void bound(Side side) = 0;
  /// From here on a query block is one query, in the order of the groups; else it is a group of the queries.
  virtual void separate_queries() = 0;
  virtual void build_index() = 0;
  [[nodiscard]] virtual FirstTest first_test() = 0;
  /// Copies of the rows as refinement reads them.
  virtual void arrange() = 0;

  // What planning needs.
  [[nodiscard]] virtual std::uint32_t groups() const = 0;
  [[nodiscard]] virtual int height() const = 0;
  [[nodiscard]] virtual std::uint32_t blocks() const = 0;
  /// Queries in the blocks [begin, end).
  [[nodiscard]] virtual std::uint64_t queries_in(std::uint32_t begin, std::uint32_t end) const = 0;
  /// Bytes that batches may take, of the `host_budget` and of whatever memory the engine has of its own.
  [[nodiscard]] virtual std::uint64_t batch_budget(std::uint64_t host_budget) const = 0;
  /// Of a batch that only counts; and of its share of the budget.
  [[nodiscard]] virtual ByteModel counting_bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t counting_room(std::uint64_t budget) const = 0;
  /// Of a batch with lists; `hits`: expected pairs for each candidate.
  [[nodiscard]] virtual ByteModel listing_bytes(double hits, std::uint64_t bytes_per_pair) const = 0;
  /// Batches that may be in flight at a time; together they stay within the budget.
  [[nodiscard]] virtual std::size_t slots() const = 0;

  // Batches.
  [[nodiscard]] virtual std::unique_ptr<BatchSlot> make_slot() = 0;
  /// Counting pass; gives the number of candidates. `range.blocks` is set by the stages.
  virtual std::uint64_t count(BatchSlot& slot, const CandidateRange& range) = 0;
  /// Filling pass over the range that was counted.
  virtual void fill(BatchSlot& slot) = 0;
  /// Decides every pair of the slot's candidates. Throws MaskOverflow where the hits do not fit; the slot then holds
  /// what it held before.
  virtual RefinementCounts refine(BatchSlot& slot, const RefineRequest& request, RefinementProgress& progress) = 0;
  /// Begins to turn the slot's hits into complete rows of the blocks. May return before that is done.
  virtual void start_compact(BatchSlot& slot, std::uint32_t block_begin, std::uint32_t block_end) = 0;
  /// The rows; the slot is then as it was made.
  [[nodiscard]] virtual NeighborChunk finish_compact(BatchSlot& slot) = 0;
  /// Gives back rows that came from the slot, after use: what memory they still own may serve the next ones.
  virtual void reuse(BatchSlot& /*slot*/, NeighborChunk&& /*rows*/) {}

  /// Largest number of bytes that the engine had in memory of its own.
  [[nodiscard]] virtual std::uint64_t peak_device_bytes() const { return 0; }
};

}  // namespace rthiss
