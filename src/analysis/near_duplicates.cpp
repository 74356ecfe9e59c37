#include <rthiss/near_duplicates.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "analysis/analysis_run.hpp"
#include "analysis/component_builder.hpp"
#include "analysis/keep_list.hpp"

namespace rthiss {

namespace {

constexpr std::size_t kLeastRoom = std::size_t{1} << 20;

class DuplicatesSink final : public ResultSink {
 public:
  /// `builder` null: only the keep list.
  DuplicatesSink(ComponentBuilder* builder, KeepList& keep) : builder_(builder), keep_(keep) {}
  void consume(NeighborChunk&& chunk) override {
    if (builder_ != nullptr) builder_->add(chunk);
    keep_.add(chunk);
  }

 private:
  ComponentBuilder* builder_;
  KeepList& keep_;
};

}  // namespace

NearDuplicates near_duplicates(Searcher& searcher, double radius, Observer* observer) {
  AnalysisRun run(searcher, observer);
  run.options().distances = false;
  run.options().include_self = false;
  const std::size_t n = run.points().rows();
  ComponentBuilder builder(run);
  KeepList keep(n, std::max(kLeastRoom, n));
  {
    DuplicatesSink sink(&builder, keep);
    run.self_join(radius, sink);
    keep.settle();
  }
  const SearchStatistics joined = run.statistics();
  for (std::vector<std::uint32_t> open = keep.open(); !open.empty(); open = keep.open()) {
    DuplicatesSink sink(nullptr, keep);
    run.search(nullptr, open, {.radius = radius}, sink);
    keep.settle();
  }
  Components groups = builder.build(2);
  NearDuplicates result;
  if (groups.chained > 0) result.far = builder.find_far_pair(groups, radius, run);
  result.labels = std::move(groups.labels);
  result.keep = keep.kept();
  result.groups = groups.components;
  result.grouped_rows = std::accumulate(groups.sizes.begin(), groups.sizes.end(), std::uint64_t{0});
  result.chained = groups.chained;
  run.statistics().queries = joined.queries;
  run.statistics().pairs = joined.pairs;
  run.statistics().self_pairs = 0;
  return result;
}

}  // namespace rthiss
