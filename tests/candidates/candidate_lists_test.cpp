#include "candidates/candidate_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "common/parallel.hpp"
#include "index/allowed_groups.hpp"

namespace rthiss::test {
namespace {

/// Lists what it is told to.
class ScriptedIndex final : public GroupIndex {
 public:
  explicit ScriptedIndex(std::vector<std::vector<std::uint32_t>> lists) : lists_(std::move(lists)) {}

  [[nodiscard]] std::string describe() const override { return "scripted"; }
  void build(const GroupBounds&, const CandidateTest&, const ThreadPool&) override {}
  [[nodiscard]] std::uint64_t estimated_bytes(std::size_t, std::size_t) const override { return 0; }

  void visit(const CandidateRange& range, const ThreadPool& pool, const Visitor& visitor) const override {
    pool.for_tasks(range.block_end - range.block_begin, [&](std::size_t task, int worker) {
      const auto block = static_cast<std::uint32_t>(range.block_begin + task);
      std::vector<std::uint32_t> allowed;
      for (const GroupInterval part : allowed_groups(range, block).parts) {
        for (const std::uint32_t group : lists_[block]) {
          if (group >= part.begin && group < part.end) allowed.push_back(group);
        }
      }
      visitor(block, allowed, worker);
    });
  }

 private:
  std::vector<std::vector<std::uint32_t>> lists_;
};

std::vector<std::vector<std::uint32_t>> random_lists(std::size_t blocks, std::size_t groups, double density) {
  std::mt19937 random(31);
  std::vector<std::vector<std::uint32_t>> lists(blocks);
  for (auto& list : lists) {
    const double chance = density * std::uniform_real_distribution<double>(0, 1)(random);
    for (std::uint32_t g = 0; g < groups; ++g) {
      if (std::bernoulli_distribution(chance)(random)) list.push_back(g);
    }
  }
  return lists;
}

void expect_candidates(const std::vector<std::vector<std::uint32_t>>& lists, std::size_t groups,
                       const CandidateRange& range, const ThreadPool& pool) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> expected;
  std::uint64_t total = 0;
  for (std::uint32_t block = range.block_begin; block < range.block_end; ++block) {
    for (const std::uint32_t group : lists[block]) {
      if (group < range.group_begin || group >= range.group_end) continue;
      if (range.each_pair_once && range.block_begin <= group && group < block) continue;
      expected[group].push_back(block);
      ++total;
    }
  }
  const ScriptedIndex index(lists);
  const IntersectionCounts counts = count_candidates(index, range, groups, pool);
  ASSERT_EQ(counts.total, total);
  ASSERT_EQ(counts.per_group.size(), groups);
  ASSERT_EQ(counts.per_block.size(), range.block_end - range.block_begin);
  std::uint64_t over_blocks = 0, over_groups = 0;
  for (const std::uint32_t count : counts.per_block) over_blocks += count;
  for (const std::uint32_t count : counts.per_group) over_groups += count;
  ASSERT_EQ(over_blocks, total);
  ASSERT_EQ(over_groups, total);

  const CandidateLists found = fill_candidates(index, range, counts, pool);
  ASSERT_EQ(found.group_ids.size(), expected.size());
  ASSERT_EQ(found.begin.size(), expected.size() + 1);
  ASSERT_EQ(found.begin.back(), total);
  for (std::size_t list = 0; list < found.group_ids.size(); ++list) {
    const std::uint32_t group = found.group_ids[list];
    const std::vector<std::uint32_t> blocks(found.block_ids.data() + found.begin[list],
                                            found.block_ids.data() + found.begin[list + 1]);
    ASSERT_EQ(blocks, expected[group]);
    ASSERT_EQ(blocks.size(), counts.per_group[group]);
    if (list == 0) continue;
    const std::size_t before = found.begin[list] - found.begin[list - 1];
    ASSERT_TRUE(before > blocks.size() || (before == blocks.size() && found.group_ids[list - 1] < group));
  }
}

TEST(Candidates, ListsAreTheTransposedVisits) {
  for (const int threads : {1, 2, 4}) {
    const ThreadPool pool(threads);
    for (const std::size_t count : {0u, 1u, 31u, 32u, 33u, 64u, 65u, 600u}) {
      for (const double density : {0.0, 0.1, 1.0}) {
        const auto lists = random_lists(count, count, density);
        for (const bool once : {false, true}) {
          const auto n = static_cast<std::uint32_t>(count);
          ASSERT_NO_FATAL_FAILURE(expect_candidates(lists, count, {nullptr, 0, n, 0, n, once}, pool));
          ASSERT_NO_FATAL_FAILURE(
              expect_candidates(lists, count, {nullptr, n / 3, n - n / 4, n / 5, n - n / 7, once}, pool));
        }
      }
    }
  }
}

/// More candidates than the filling pass takes at a time, so that the pair rule must hold across its windows.
TEST(Candidates, ListsAreRightAcrossWindows) {
  const ThreadPool pool(2);
  std::vector<std::uint32_t> all(1700);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  const std::vector<std::vector<std::uint32_t>> lists(1700, all);
  for (const bool once : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(expect_candidates(lists, 1700, {nullptr, 0, 1700, 0, 1700, once}, pool));
    ASSERT_NO_FATAL_FAILURE(expect_candidates(lists, 1700, {nullptr, 20, 1700, 10, 1690, once}, pool));
  }
}

TEST(Candidates, NoticeAnIndexThatChangesItsMind) {
  const ThreadPool pool(2);
  const CandidateRange range{nullptr, 0, 3, 0, 4, false};
  const ScriptedIndex first({{0, 1}, {1, 2}, {3}});
  const IntersectionCounts counts = count_candidates(first, range, 4, pool);
  for (const auto& lists : std::vector<std::vector<std::vector<std::uint32_t>>>{
           {{0, 1}, {1, 2}, {}}, {{0, 1}, {1, 2}, {2, 3}}, {{0, 1}, {1, 3}, {3}}, {{0, 1}, {0, 2}, {3}}}) {
    EXPECT_THROW((void)fill_candidates(ScriptedIndex(lists), range, counts, pool), std::logic_error);
  }
}

}  // namespace
}  // namespace rthiss::test
