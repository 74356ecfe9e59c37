#include "engine/reference/reference_engine.hpp"

#include <algorithm>
#include <vector>

#include "refinement/hit_recorder.hpp"

namespace rthiss::reference {

namespace {

class ReferenceRefiner final : public Refiner {
 public:
  ReferenceRefiner(const RefinementTask& task, const ThreadPool& pool) : task_(task), pool_(pool) {}

  RefinementCounts refine(const CandidateLists& lists, const CandidateRange& /*range*/, bool mirror,
                          const RefinementResult& result, RefinementProgress& progress) override {
    const auto workers = static_cast<std::size_t>(pool_.threads());
    if (result.mask != nullptr) result.mask->parts.resize(std::max(result.mask->parts.size(), workers));
    std::vector<RefinementCounts> counts(workers);
    pool_.for_tasks(lists.group_ids.size(), [&](std::size_t list, int id) {
      HitRecorder recorder(task_, result, static_cast<std::uint32_t>(id), mirror, nullptr, progress);
      for (std::uint64_t entry = lists.begin[list]; entry < lists.begin[list + 1]; ++entry) {
        compare(recorder, counts[static_cast<std::size_t>(id)], lists.block_ids[entry], lists.group_ids[list]);
        if (!recorder.entry_done()) return;
      }
      recorder.flush();
    });
    RefinementCounts sum;
    for (const RefinementCounts& part : counts) sum += part;
    return sum;
  }

 private:
  void compare(HitRecorder& recorder, RefinementCounts& counts, std::uint32_t block, std::uint32_t group) const {
    const Grouping& queries = task_.queries->grouping;
    const Grouping& points = task_.points->grouping;
    std::vector<double> x(task_.points->data->columns()), y(x.size());
    for (std::uint32_t q = queries.group_begin[block]; q < queries.group_begin[block + 1]; q += 64) {
      for (std::uint32_t p = points.group_begin[group]; p < points.group_begin[group + 1]; p += 64) {
        std::uint64_t words[64] = {};
        for (std::uint32_t i = q; i < std::min(q + 64, queries.group_begin[block + 1]); ++i) {
          if (ignored(*task_.queries->data, queries.original_id[i])) continue;
          task_.queries->data->read_row(queries.original_id[i], x.data());
          for (std::uint32_t j = p; j < std::min(p + 64, points.group_begin[group + 1]); ++j) {
            if (ignored(*task_.points->data, points.original_id[j])) continue;
            task_.points->data->read_row(points.original_id[j], y.data());
            ++counts.comparisons;
            if (task_.decider->within(x.data(), y.data(), counts.decided)) words[i - q] |= std::uint64_t{1} << (j - p);
          }
        }
        recorder.record(block, q, group, p, words);
      }
    }
  }

  static bool ignored(const Dataset& data, std::uint32_t row) {
    return std::binary_search(data.ignored_rows().begin(), data.ignored_rows().end(), row);
  }

  const RefinementTask& task_;
  const ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Refiner> ReferenceEngine::make_refiner(const RefinementTask& task,
                                                       std::unique_ptr<Refiner> /*previous*/) const {
  return std::make_unique<ReferenceRefiner>(task, pool_);
}

}  // namespace rthiss::reference
