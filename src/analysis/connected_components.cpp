#include <rthiss/clustering.hpp>

#include "analysis/analysis_run.hpp"
#include "analysis/component_builder.hpp"

namespace rthiss {

namespace {

class ComponentSink final : public ResultSink {
 public:
  explicit ComponentSink(ComponentBuilder& builder) : builder_(builder) {}
  void consume(NeighborChunk&& chunk) override { builder_.add(chunk); }

 private:
  ComponentBuilder& builder_;
};

}  // namespace

Components connected_components(Searcher& searcher, double radius, Observer* observer) {
  AnalysisRun run(searcher, observer);
  run.options().distances = false;
  run.options().include_self = false;
  ComponentBuilder builder(run);
  ComponentSink sink(builder);
  run.self_join(radius, sink);
  const SearchStatistics joined = run.statistics();
  Components result = builder.build(1);
  if (result.chained > 0) result.far = builder.find_far_pair(result, radius, run);
  run.statistics().queries = joined.queries;
  run.statistics().pairs = joined.pairs;
  run.statistics().self_pairs = 0;
  return result;
}

}  // namespace rthiss
