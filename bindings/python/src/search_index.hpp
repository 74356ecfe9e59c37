#pragma once

#include <rthiss/searcher.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "job.hpp"
#include "points.hpp"

namespace rthiss::python {

/// What the rows of a result hold.
struct Wanted {
  bool include_self = false;
  bool distances = false;
};

/// Rows that are searched again and again, by any number of threads at once: each search takes an idle searcher or
/// makes one.
class SearchIndex {
 public:
  /// Checks the points, in a job. Throws as Searcher does.
  SearchIndex(Points points, SearchOptions options, const Callbacks& callbacks);

  [[nodiscard]] const Points& points() const noexcept { return shared_->points; }
  [[nodiscard]] const SearchOptions& options() const noexcept { return shared_->options; }

  /// (use(searcher, observer), the statistics of it), computed in a job: see `run`. What `use` captures may have to
  /// outlive this call.
  template <typename Use>
  [[nodiscard]] auto with_searcher(Wanted wanted, Use use, const Callbacks& callbacks) const {
    struct Outcome {
      std::invoke_result_t<Use, Searcher&, Observer&> result;
      SearchStatistics statistics;
    };
    const auto outcome = std::make_shared<Outcome>();
    run(
        [shared = shared_, wanted, use = std::move(use), outcome](Observer& observer) {
          std::unique_ptr<Searcher> searcher = shared->take(wanted);
          outcome->result = use(*searcher, observer);
          outcome->statistics = searcher->statistics();
          shared->give_back(wanted, std::move(searcher));
        },
        callbacks);
    return std::pair(std::move(outcome->result), std::move(outcome->statistics));
  }

 private:
  using Key = std::pair<bool, bool>;

  /// Outlives the index where a search that was interrupted is still running.
  struct Shared {
    Points points;
    SearchOptions options;
    std::mutex mutex;
    std::map<Key, std::vector<std::unique_ptr<Searcher>>> idle;

    [[nodiscard]] std::unique_ptr<Searcher> take(Wanted wanted);
    void give_back(Wanted wanted, std::unique_ptr<Searcher> searcher);
  };

  std::shared_ptr<Shared> shared_;
};

/// Adds `SearchIndex` with its searches, and `JoinStream`.
void bind_searches(nb::module_& module);

}  // namespace rthiss::python
