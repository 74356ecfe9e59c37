#include "analysis/component_builder.hpp"

#include <algorithm>
#include <vector>

#include "distance/pair_decider.hpp"

namespace rthiss {

namespace {

constexpr std::size_t kRowGrain = 256;

/// Keeps the neighbours of the one query that is searched for.
class OneRowSink final : public ResultSink {
 public:
  void consume(NeighborChunk&& chunk) override { row_ = std::move(chunk.neighbor_ids); }
  [[nodiscard]] const Array<std::uint32_t>& row() const noexcept { return row_; }

 private:
  Array<std::uint32_t> row_;
};

double value_of(const Dataset& points, Metric metric, std::uint32_t i, std::uint32_t j) {
  const double any = metric.kind == Metric::Kind::kCosineSimilarity ? 1.0 : 0.0;
  const auto decider = make_pair_decider(metric, any, points.columns(), points.grid());
  std::vector<double> x(points.columns()), y(points.columns());
  points.read_row(i, x.data());
  points.read_row(j, y.data());
  return decider->value(x.data(), y.data());
}

}  // namespace

ComponentBuilder::ComponentBuilder(const AnalysisRun& run)
    : run_(run), sets_(run.points().rows()), degrees_(run.points().rows(), 0) {}

void ComponentBuilder::add(const NeighborChunk& chunk) {
  run_.pool().for_ranges(0, chunk.query_ids.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    run_.stop_if_cancelled();
    for (std::size_t r = begin; r < end; ++r) {
      const std::uint32_t query = chunk.query_ids[r];
      degrees_[query] = static_cast<std::uint32_t>(chunk.row_begin[r + 1] - chunk.row_begin[r]);
      for (std::uint64_t at = chunk.row_begin[r]; at < chunk.row_begin[r + 1]; ++at) {
        if (chunk.neighbor_ids[at] >= query) break;  // the other direction has it
        sets_.unite(query, chunk.neighbor_ids[at]);
      }
    }
  });
}

Components ComponentBuilder::build(std::uint32_t least_size) {
  const auto n = static_cast<std::uint32_t>(degrees_.size());
  const Array<std::uint32_t>& ignored = run_.points().ignored_rows();
  Array<std::uint32_t> sizes(n, 0);
  for (std::uint32_t i = 0; i < n; ++i) ++sizes[sets_.find(i)];
  for (const std::uint32_t row : ignored) sizes[row] = 0;  // alone, and no component

  Components result;
  result.labels = Array<std::int64_t>(n, kNoLabel);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t root = sets_.find(i);
    if (sizes[root] < std::max(1U, least_size)) continue;
    result.labels[i] = root == i ? static_cast<std::int64_t>(result.components++) : result.labels[root];
  }
  result.sizes = Array<std::uint32_t>(result.components);
  Array<bool> chained(result.components, false);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (result.labels[i] == kNoLabel) continue;
    const auto label = static_cast<std::size_t>(result.labels[i]);
    const std::uint32_t size = sizes[sets_.find(i)];
    result.sizes[label] = size;
    if (degrees_[i] != size - 1) chained[label] = true;
  }
  result.chained = static_cast<std::uint64_t>(std::count(chained.begin(), chained.end(), true));
  return result;
}

std::optional<FarPair> ComponentBuilder::find_far_pair(const Components& components, double radius,
                                                       AnalysisRun& run) const {
  const auto n = static_cast<std::uint32_t>(degrees_.size());
  // Rows ascend with the numbers of their components only at the roots: look for the lowest chained component.
  std::optional<std::uint32_t> first;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::int64_t label = components.labels[i];
    if (label == kNoLabel || degrees_[i] == components.sizes[static_cast<std::size_t>(label)] - 1) continue;
    if (!first || label < components.labels[*first]) first = i;
  }
  if (!first) return std::nullopt;
  OneRowSink sink;
  run.search(nullptr, std::span<const std::uint32_t>(&*first, 1), {.radius = radius}, sink);
  const Array<std::uint32_t>& near = sink.row();
  for (std::uint32_t j = 0; j < n; ++j) {
    if (j == *first || components.labels[j] != components.labels[*first]) continue;
    if (std::binary_search(near.begin(), near.end(), j)) continue;
    return FarPair{*first, j, value_of(run.points(), run.options().metric, *first, j)};
  }
  return std::nullopt;
}

}  // namespace rthiss
