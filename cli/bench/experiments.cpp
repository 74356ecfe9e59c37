#include "bench/experiments.hpp"

#include <fmt/format.h>
#include <rthiss/searcher.hpp>

#include <algorithm>

#include "number_text.hpp"

namespace rthiss::cli {

namespace {

using Variants = std::vector<BenchVariant>;

template <Stage kStage>
std::string stage_text(const BenchRow& row) {
  return fmt::format("{:.4f}", row.statistics.seconds[static_cast<std::size_t>(kStage)]);
}

template <Stage kStage>
std::string share_text(const BenchRow& row) {
  const double total = row.statistics.seconds_total;
  const double seconds = row.statistics.seconds[static_cast<std::size_t>(kStage)];
  return fmt::format("{:.1f} %", total > 0 ? 100 * seconds / total : 0.0);
}

std::string groups_text(const BenchRow& row) { return with_commas(row.statistics.groups); }
std::string candidates_text(const BenchRow& row) { return with_commas(row.statistics.candidates_query_group); }
std::string computed_text(const BenchRow& row) { return with_commas(row.statistics.comparisons); }
std::string all_text(const BenchRow& row) { return with_commas(row.statistics.queries * row.statistics.points); }
std::string left_text(const BenchRow& row) {
  const double all = static_cast<double>(row.statistics.queries) * static_cast<double>(row.statistics.points);
  return fmt::format("{:.3f} %", 100 * static_cast<double>(row.statistics.comparisons) / std::max(1.0, all));
}
std::string whole_text(const BenchRow& row) { return with_commas(row.statistics.accepted_whole); }
std::string batches_text(const BenchRow& row) { return with_commas(row.statistics.batches); }
std::string spread_text(const BenchRow& row) {
  const BatchSizes& sizes = row.statistics.batch_sizes;
  return fmt::format("{} / {:.4g} / {}", with_commas(sizes.least), sizes.mean, with_commas(sizes.most));
}
std::string device_text(const BenchRow& row) { return size_text(row.statistics.peak_bytes_device); }
std::string engine_text(const BenchRow& row) {
  return fmt::format("{}, {}, {}", row.statistics.engine, row.statistics.index, row.statistics.preset);
}
std::string rate_text(const BenchRow& row) {
  return fmt::format("{:.4g}", static_cast<double>(row.statistics.pairs) / std::max(1e-9, row.median()));
}
std::string queries_text(const BenchRow& row) { return with_commas(row.statistics.queries); }

constexpr BenchColumn kGroups{"groups", groups_text};
constexpr BenchColumn kCandidates{"candidates", candidates_text};
constexpr BenchColumn kComputed{"computed", computed_text};
constexpr BenchColumn kLeft{"of all pairs", left_text};
constexpr BenchColumn kWay{"engine, index, preset", engine_text};
constexpr BenchColumn kGrouping{"group", stage_text<Stage::kGroup>};
constexpr BenchColumn kBuild{"index", stage_text<Stage::kIndex>};
constexpr BenchColumn kFit{"fit", stage_text<Stage::kFit>};
constexpr BenchColumn kCount{"count", stage_text<Stage::kCount>};
constexpr BenchColumn kFill{"fill", stage_text<Stage::kFill>};
constexpr BenchColumn kRefine{"refine", stage_text<Stage::kRefine>};
constexpr BenchColumn kCompact{"compact", stage_text<Stage::kCompact>};

BenchVariant plain(const ExperimentRequest& request, std::string name) {
  return {std::move(name), request.options, false, {}};
}

Variants by_primitive(const ExperimentRequest& request) {
  Variants variants{plain(request, "group"), plain(request, "point")};
  variants[0].options.primitive = Primitive::kGroup;
  variants[1].options.primitive = Primitive::kPoint;
  return variants;
}

Variants by_height(const ExperimentRequest& request) {
  Variants variants;
  for (const int height : request.heights) {
    variants.push_back(plain(request, std::to_string(height)));
    variants.back().options.kd_tree_height = height;
  }
  return variants;
}

Variants by_grouping(const ExperimentRequest& request) {
  Variants variants;
  for (const auto& [name, method] :
       {std::pair("kd-tree", GroupingMethod::kKdTree), std::pair("morton", GroupingMethod::kMorton),
        std::pair("hilbert", GroupingMethod::kHilbert), std::pair("ball", GroupingMethod::kBall)}) {
    variants.push_back(plain(request, name));
    variants.back().options.grouping = method;
  }
  return variants;
}

Variants by_shared_memory(const ExperimentRequest& request) {
  Variants variants;
  for (const auto& [name, tiles] :
       {std::pair("none", SharedMemory::kNone), std::pair("query", SharedMemory::kQuery),
        std::pair("primitive", SharedMemory::kPrimitive), std::pair("both", SharedMemory::kBoth)}) {
    variants.push_back(plain(request, name));
    variants.back().options.shared_memory = tiles;
  }
  return variants;
}

Variants by_mask(const ExperimentRequest& request) {
  Variants variants;
  for (const auto& [name, mask] : {std::pair("compressed", ResultMask::kCompressed),
                                   std::pair("plain", ResultMask::kPlain), std::pair("pairs", ResultMask::kPairs)}) {
    variants.push_back(plain(request, name));
    variants.back().options.mask = mask;
  }
  return variants;
}

/// Both presets, or the one that was asked for.
Variants by_preset(const ExperimentRequest& request) {
  Variants variants;
  for (const char* const preset : {"paper", "auto"}) {
    if (request.preset_given && request.options.preset != preset) continue;
    variants.push_back(plain(request, preset));
    variants.back().options.preset = preset;
  }
  return variants;
}

Variants by_index(const ExperimentRequest& request) {
  // What the paper uses: its absence is said, too.
  static constexpr const char* kHardwareIndex = "optix";
  bool optix_known = false;
  Variants variants;
  for (const Availability& index : indexes()) {
    variants.push_back(plain(request, index.name));
    variants.back().options.index = index.name;
    optix_known = optix_known || index.name == kHardwareIndex;
  }
  if (!optix_known) {
    variants.push_back(plain(request, kHardwareIndex));
    variants.back().problem = fmt::format("this build has no index '{}'", kHardwareIndex);
  }
  return variants;
}

Variants as_given(const ExperimentRequest& request) { return {plain(request, request.options.preset)}; }

Variants both_ways(const ExperimentRequest& request) {
  Variants variants{plain(request, "queries in points"), plain(request, "points in queries")};
  variants[1].swapped = true;
  return variants;
}

}  // namespace

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> all = {
      {"primitives",
       "One primitive of the index for each group of points against one for each point",
       "Figure 7",
       {"--primitive", "--kd-tree-height"},
       false,
       by_primitive,
       {kGroups, kCandidates, kBuild, kFit, kCount, kFill, kRefine}},
      {"height",
       "Heights of the kd-tree",
       "Figure 6",
       {"--kd-tree-height", "--primitive"},
       false,
       by_height,
       {kGroups, kCandidates, kLeft, kFit, kCount, kFill, kRefine}},
      {"grouping",
       "kd-tree, Morton curve, Hilbert curve and ball tree",
       "Section IV-B",
       {"--grouping", "--primitive"},
       false,
       by_grouping,
       {kGroups, kCandidates, kLeft, kGrouping, kRefine}},
      {"shared-memory",
       "Tiles of the refinement in shared memory: none, query, primitive, both; engine cuda",
       "Figure 8",
       {"--shared-memory"},
       true,
       by_shared_memory,
       {kRefine, {"refine share", share_text<Stage::kRefine>}}},
      {"mask",
       "Result of the refinement as bits, bytes or pairs; batches and their spread; engine cuda",
       "Section V-G",
       {"--mask"},
       true,
       by_mask,
       {{"batches", batches_text},
        {"candidates of a batch: least / mean / most", spread_text},
        kRefine,
        kCompact,
        {"device", device_text}}},
      {"pruning",
       "Distance calculations left, against brute force",
       "Table VI",
       {},
       false,
       by_preset,
       {{"brute force", all_text}, kComputed, kLeft, {"accepted whole", whole_text}, kCandidates}},
      {"stages",
       "Shares of the stages in the time",
       "Figure 10",
       {},
       false,
       as_given,
       {{"read", share_text<Stage::kRead>},
        {"order", share_text<Stage::kOrder>},
        {"group", share_text<Stage::kGroup>},
        {"bound", share_text<Stage::kBound>},
        {"index", share_text<Stage::kIndex>},
        {"fit", share_text<Stage::kFit>},
        {"plan", share_text<Stage::kPlan>},
        {"count", share_text<Stage::kCount>},
        {"fill", share_text<Stage::kFill>},
        {"refine", share_text<Stage::kRefine>},
        {"compact", share_text<Stage::kCompact>},
        {"output", share_text<Stage::kOutput>}}},
      {"selectivity",
       "Radii for 2^6 to 2^12 neighbours of a query",
       "Table IV",
       {},
       false,
       by_preset,
       {{"pairs/s", rate_text}, kLeft, kRefine, kCompact}},
      {"semi-join",
       "Queries of their own; without --queries every other row asks for the rest. Both ways round",
       "Section II-A",
       {},
       false,
       both_ways,
       {{"queries", queries_text}, kGroups, kCandidates, kLeft, kRefine}},
      {"low-dimension",
       "Up to three columns: the paper's lists and mask against preset auto, which on engine cuda decides in the "
       "traversal",
       "Table V",
       {},
       false,
       by_preset,
       {kWay, kFit, kCount, kFill, kRefine, kCompact}},
      {"index",
       "All indexes; their first intersection test, count and fill apart",
       "Section IV-D",
       {"--index"},
       false,
       by_index,
       {kCandidates, kBuild, kFit, kCount, kFill, kRefine}},
  };
  return all;
}

}  // namespace rthiss::cli
