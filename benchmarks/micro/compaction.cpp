// Bits of the result mask to ascending ids, on one thread.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>

#include "common/parallel.hpp"
#include "rates.hpp"
#include "refinement/compact.hpp"

namespace rthiss::micro {
namespace {

constexpr std::uint32_t kRows = 16'384;
constexpr std::uint32_t kGroupSize = 64;
constexpr std::uint32_t kGroups = kRows / kGroupSize;
constexpr std::uint32_t kTilesOfBlock = 16;

Grouping shuffled_groups() {
  Grouping grouping;
  grouping.original_id = Array<std::uint32_t>(kRows);
  for (std::uint32_t i = 0; i < kRows; ++i) grouping.original_id[i] = i;
  std::shuffle(grouping.original_id.begin(), grouping.original_id.end(), std::mt19937(1));
  grouping.group_begin = Array<std::uint32_t>(kGroups + 1);
  for (std::uint32_t g = 0; g <= kGroups; ++g) grouping.group_begin[g] = g * kGroupSize;
  return grouping;
}

/// Every block has hits with the groups that follow it; each pair of those is a hit with the given chance.
HitMask random_mask(double chance, std::uint64_t& hits) {
  std::mt19937_64 random(2);
  std::bernoulli_distribution hit(chance);
  HitMask mask;
  mask.parts.resize(1);
  HitMask::Part& part = mask.parts[0];
  for (std::uint32_t block = 0; block < kGroups; ++block) {
    for (std::uint32_t i = 0; i < kTilesOfBlock; ++i) {
      const std::uint32_t point_begin = (block + i) % kGroups * kGroupSize;
      HitTile tile{block, block * kGroupSize, point_begin, 0, 0, part.words.size()};
      for (std::uint32_t row = 0; row < kGroupSize; ++row) {
        std::uint64_t word = 0;
        for (std::uint32_t j = 0; j < kGroupSize; ++j) word |= std::uint64_t{hit(random)} << j;
        if (word == 0) continue;
        tile.rows |= std::uint64_t{1} << row;
        part.words.push_back(word);
        hits += static_cast<std::uint64_t>(std::popcount(word));
      }
      part.tiles.push_back(tile);
    }
  }
  return mask;
}

// Items: neighbours.
void compact(benchmark::State& state) {
  const ThreadPool pool(1);
  const Array<float> rows(kRows, 0.0F);
  const Dataset data(PointsView::row_major(rows.data(), kRows, 1), NonFinite::kError, "points", pool);
  PreparedSet set;
  set.data = &data;
  set.grouping = shuffled_groups();
  RefinementTask task;
  task.points = task.queries = &set;
  std::uint64_t hits = 0;
  const HitMask mask = random_mask(0.01 * static_cast<double>(state.range(0)), hits);
  for (auto _ : state) {
    benchmark::DoNotOptimize(rthiss::compact(mask, task, 0, kGroups, false, pool).neighbor_ids.data());
  }
  const HitMask::Part& part = mask.parts[0];
  const auto bytes = static_cast<double>(part.words.size() * sizeof(std::uint64_t) +
                                         part.tiles.size() * sizeof(HitTile) + hits * sizeof(std::uint32_t));
  set_rates(state, {static_cast<double>(hits), bytes});
}
BENCHMARK(compact)->ArgNames({"hits_percent"})->Arg(1)->Arg(10)->Arg(50)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rthiss::micro
