#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/parallel.hpp"
#include "refinement/bit_transpose.hpp"
#include "refinement/compact.hpp"
#include "refinement/hit_recorder.hpp"
#include "support/sample_rows.hpp"
#include "support/typed_points.hpp"

namespace rthiss::test {
namespace {

TEST(TransposeBits, AgainstSingleBits) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::uint64_t words[64], turned[64];
    for (std::uint64_t& word : words) word = round == 0 ? 0 : round == 1 ? ~std::uint64_t{0} : random() & random();
    std::copy_n(words, 64, turned);
    transpose_bits(turned);
    for (unsigned r = 0; r < 64; ++r) {
      for (unsigned c = 0; c < 64; ++c) ASSERT_EQ((words[r] >> c) & 1, (turned[c] >> r) & 1);
    }
  }
}

/// A relation between positions, recorded by pairs of groups, and what must come out.
struct World {
  static constexpr std::size_t kColumns = 2;
  TypedPoints points;
  ThreadPool pool{2};
  Dataset data;
  PreparedSet set;
  RefinementTask task;
  std::vector<std::vector<bool>> related;  // [positions x positions], symmetric, reflexive

  World(const std::vector<std::uint32_t>& sizes, unsigned seed)
      : points(typed_points(uniform_rows(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), kColumns, 0, 1),
                            kColumns, DType::kFloat64)),
        data(points.view, NonFinite::kError, "points", pool) {
    const std::size_t n = data.rows();
    std::mt19937_64 random(seed);
    set.data = &data;
    set.grouping.original_id = Array<std::uint32_t>(n);
    std::iota(set.grouping.original_id.begin(), set.grouping.original_id.end(), 0U);
    std::shuffle(set.grouping.original_id.begin(), set.grouping.original_id.end(), random);
    set.grouping.group_begin = Array<std::uint32_t>(sizes.size() + 1, 0U);
    for (std::size_t g = 0; g < sizes.size(); ++g)
      set.grouping.group_begin[g + 1] = set.grouping.group_begin[g] + sizes[g];
    task.points = task.queries = &set;
    task.self_join = true;
    related.assign(n, std::vector<bool>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) related[i][j] = related[j][i] = random() % (i % 3 == 0 ? 2 : 50) == 0;
      related[i][i] = true;
    }
  }
  [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(set.grouping.groups()); }
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> expected() const {
    const std::size_t n = data.rows();
    std::vector<std::vector<std::uint32_t>> rows(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (related[i][j] && (i != j || task.include_self)) {
          rows[set.grouping.original_id[i]].push_back(set.grouping.original_id[j]);
        }
      }
    }
    for (auto& row : rows) std::sort(row.begin(), row.end());
    return rows;
  }
  void record(HitRecorder& recorder, std::uint32_t block, std::uint32_t group) const {
    const auto& begin = set.grouping.group_begin;
    for (std::uint32_t q = begin[block]; q < begin[block + 1]; q += 64) {
      for (std::uint32_t p = begin[group]; p < begin[group + 1]; p += 64) {
        std::uint64_t words[64] = {};
        for (std::uint32_t i = q; i < std::min(q + 64, begin[block + 1]); ++i) {
          for (std::uint32_t j = p; j < std::min(p + 64, begin[group + 1]); ++j) {
            words[i - q] |= static_cast<std::uint64_t>(related[i][j]) << (j - p);
          }
        }
        recorder.record(block, q, group, p, words);
      }
    }
  }
};

// Each pair of groups once within a batch, both directions of it found; batches of all sizes; parts shuffled.
TEST(HitRecorder, MirrorsWithinTheBatchOnly) {
  for (const bool include_self : {false, true}) {
    World world({33, 64, 1, 65, 130, 7, 2}, 3);
    world.task.include_self = include_self;
    const auto expected = world.expected();
    const std::uint32_t groups = world.groups();
    for (const std::uint32_t blocks_per_batch : {1U, 2U, 3U, 7U}) {
      std::vector<std::vector<std::uint32_t>> found(world.data.rows());
      std::vector<int> seen(world.data.rows(), 0);
      for (std::uint32_t first = 0; first < groups; first += blocks_per_batch) {
        const std::uint32_t last = std::min(groups, first + blocks_per_batch);
        HitMask mask;
        mask.parts.resize(3);
        const RefinementResult result{&mask, nullptr, ~std::uint64_t{0}, first, last};
        RefinementProgress progress(nullptr, {});
        std::uint64_t pairs = 0;
        {
          std::vector<HitRecorder> recorders;
          for (std::uint32_t part = 0; part < 3; ++part) {
            recorders.emplace_back(world.task, result, part, true, nullptr, progress);
          }
          for (std::uint32_t group = groups; group-- > 0;) {
            for (std::uint32_t block = first; block < last; ++block) {
              if (group >= first && group < block) continue;  // stands at block `group` already
              world.record(recorders[(group * 5 + block) % 3], block, group);
            }
          }
          for (HitRecorder& recorder : recorders) recorder.flush();
          pairs = progress.pairs();
        }
        for (HitMask::Part& part : mask.parts) std::reverse(part.tiles.begin(), part.tiles.end());
        const NeighborChunk chunk = compact(mask, world.task, first, last, false, world.pool);
        ASSERT_TRUE(std::is_sorted(chunk.query_ids.begin(), chunk.query_ids.end()));
        ASSERT_EQ(chunk.row_begin.back(), pairs);
        ASSERT_TRUE(chunk.distances.empty());
        for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
          ++seen[chunk.query_ids[r]];
          found[chunk.query_ids[r]].assign(chunk.neighbor_ids.data() + chunk.row_begin[r],
                                           chunk.neighbor_ids.data() + chunk.row_begin[r + 1]);
        }
      }
      ASSERT_EQ(found, expected) << blocks_per_batch;
      ASSERT_EQ(seen, std::vector<int>(world.data.rows(), 1));
    }
  }
}

TEST(HitRecorder, CountsBothDirections) {
  for (const bool include_self : {false, true}) {
    World world({33, 64, 1, 65, 130, 7, 2}, 4);
    world.task.include_self = include_self;
    const auto expected = world.expected();
    std::vector<std::uint64_t> counts(world.data.rows(), 0), whole(world.groups(), 0);
    const RefinementResult result{nullptr, counts.data()};
    RefinementProgress progress(nullptr, {});
    HitRecorder recorder(world.task, result, 0, true, whole.data(), progress);
    for (std::uint32_t block = 0; block < world.groups(); ++block) {
      for (std::uint32_t group = block; group < world.groups(); ++group) world.record(recorder, block, group);
    }
    recorder.flush();
    std::uint64_t pairs = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(counts[i], expected[i].size());
      pairs += counts[i];
    }
    EXPECT_EQ(progress.pairs(), pairs);
  }
}

TEST(HitRecorder, WholePairsOfGroups) {
  for (const bool include_self : {false, true}) {
    World world({33, 64, 1, 65, 130}, 5);
    world.task.include_self = include_self;
    for (auto& row : world.related) row.assign(row.size(), true);
    const auto expected = world.expected();
    std::vector<std::uint64_t> counts(world.data.rows(), 0), whole(world.groups(), 0);
    HitMask mask;
    mask.parts.resize(1);
    for (const bool counting : {false, true}) {
      RefinementResult result;
      result.mask = counting ? nullptr : &mask;
      result.counts = counting ? counts.data() : nullptr;
      result.block_end = world.groups();
      RefinementProgress progress(nullptr, {});
      HitRecorder recorder(world.task, result, 0, true, whole.data(), progress);
      for (std::uint32_t block = 0; block < world.groups(); ++block) {
        for (std::uint32_t group = block; group < world.groups(); ++group) recorder.record_whole(block, group);
      }
      recorder.flush();
      EXPECT_EQ(progress.pairs(), expected.size() * expected[0].size());
    }
    const NeighborChunk chunk = compact(mask, world.task, 0, world.groups(), false, world.pool);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(std::equal(expected[i].begin(), expected[i].end(), chunk.neighbor_ids.data() + chunk.row_begin[i],
                             chunk.neighbor_ids.data() + chunk.row_begin[i + 1]));
    }
    for (std::uint32_t group = 0; group < world.groups(); ++group) EXPECT_EQ(whole[group], expected[0].size());
  }
}

TEST(HitRecorder, StopsAtTheLimitOfTheMask) {
  World world({130, 130}, 6);
  HitMask mask;
  mask.parts.resize(2);
  RefinementResult result;
  result.mask = &mask;
  result.mask_limit = 1000;
  RefinementProgress progress(nullptr, {});
  HitRecorder recorder(world.task, result, 1, true, nullptr, progress);
  EXPECT_THROW(recorder.record_whole(0, 1), MaskOverflow);
}

}  // namespace
}  // namespace rthiss::test
