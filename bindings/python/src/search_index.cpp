#include "search_index.hpp"

namespace rthiss::python {

std::unique_ptr<Searcher> SearchIndex::Shared::take(Wanted wanted) {
  {
    const std::lock_guard lock(mutex);
    auto& searchers = idle[{wanted.include_self, wanted.distances}];
    if (!searchers.empty()) {
      std::unique_ptr<Searcher> searcher = std::move(searchers.back());
      searchers.pop_back();
      return searcher;
    }
  }
  SearchOptions own = options;
  own.include_self = wanted.include_self;
  own.distances = wanted.distances;
  return std::make_unique<Searcher>(points.view, own);
}

void SearchIndex::Shared::give_back(Wanted wanted, std::unique_ptr<Searcher> searcher) {
  const std::lock_guard lock(mutex);
  idle[{wanted.include_self, wanted.distances}].push_back(std::move(searcher));
}

SearchIndex::SearchIndex(Points points, SearchOptions options, const Callbacks& callbacks)
    : shared_(std::make_shared<Shared>()) {
  const Wanted wanted{options.include_self, options.distances};
  shared_->points = std::move(points);
  shared_->options = std::move(options);
  run([shared = shared_, wanted](Observer&) { shared->give_back(wanted, shared->take(wanted)); }, callbacks);
}

}  // namespace rthiss::python
