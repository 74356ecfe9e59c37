#include "batching/batch_plan.hpp"

#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace rthiss::test {
namespace {

/// Batches tile blocks x groups in order, stay within the budget, and no two of them would have fitted in one.
void expect_plan(const std::vector<std::uint32_t>& counts, std::uint32_t groups, const ByteModel& model,
                 std::uint64_t budget) {
  const BatchPlan plan = plan_batches(counts, groups, model, budget);
  std::uint32_t next_block = 0, next_group = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const QueryBatch& batch = plan[i];
    ASSERT_EQ(batch.block_begin, next_block);
    ASSERT_GT(batch.block_end, batch.block_begin);
    ASSERT_LE(batch.predicted_bytes, budget);
    const std::uint64_t sum =
        std::accumulate(counts.begin() + batch.block_begin, counts.begin() + batch.block_end, std::uint64_t{0});
    const bool whole = batch.group_begin == 0 && batch.group_end == groups;
    if (whole) {
      ASSERT_EQ(next_group, 0u);
      ASSERT_TRUE(batch.completes_rows);
      ASSERT_EQ(batch.candidates, sum);
      next_block = batch.block_end;
      if (i + 1 < plan.size()) {
        const std::uint64_t next = model.per_block + counts[next_block] * model.per_candidate;
        ASSERT_GT(batch.predicted_bytes + next, budget) << "the next block would have fitted";
      }
    } else {
      ASSERT_EQ(batch.block_end, batch.block_begin + 1);
      ASSERT_GT(model.per_block + sum * model.per_candidate, budget) << "needlessly split";
      ASSERT_EQ(batch.group_begin, next_group);
      ASSERT_EQ(batch.candidates, std::min<std::uint64_t>(sum, batch.group_end - batch.group_begin));
      ASSERT_EQ(batch.completes_rows, batch.group_end == groups);
      next_group = batch.group_end == groups ? 0 : batch.group_end;
      next_block += batch.group_end == groups ? 1 : 0;
    }
    ASSERT_EQ(batch.predicted_bytes,
              (batch.block_end - batch.block_begin) * model.per_block + batch.candidates * model.per_candidate);
  }
  ASSERT_EQ(next_block, counts.size());
  ASSERT_EQ(next_group, 0u);
}

TEST(BatchPlan, TilesTheBlocksWithinTheBudget) {
  std::mt19937 random(37);
  for (int round = 0; round < 2000; ++round) {
    const auto groups = static_cast<std::uint32_t>(1 + random() % 100);
    std::vector<std::uint32_t> counts(random() % 70);
    for (auto& count : counts) count = random() % 3 == 0 ? groups : static_cast<std::uint32_t>(random() % (groups + 1));
    const ByteModel model{random() % 50, random() % 20};
    const std::uint64_t budget = model.per_block + model.per_candidate + random() % 3000;
    ASSERT_NO_FATAL_FAILURE(expect_plan(counts, groups, model, budget)) << "round " << round;
  }
}

TEST(BatchPlan, SumsBeyondThirtyTwoBits) {
  const std::vector<std::uint32_t> counts(7, 3'000'000'000u);
  for (const std::uint64_t candidates : {30'000'000'000ul, 100'000'000'000ul, 1'000'000ul, 5'000'000'000ul}) {
    ASSERT_NO_FATAL_FAILURE(expect_plan(counts, 4'000'000'000u, {1000, 8}, 8 * candidates));
  }
  ASSERT_NO_FATAL_FAILURE(expect_plan(counts, 4'000'000'000u, {1000, 64}, std::numeric_limits<std::uint64_t>::max()));
}

TEST(BatchPlan, SaysHowMuchOneCandidateNeeds) {
  try {
    (void)plan_batches(std::vector<std::uint32_t>{0, 3}, 5, {100, 8}, 107);
    FAIL() << "no exception";
  } catch (const OutOfMemory& error) {
    const std::string text = error.what();
    for (const char* part : {"block 1", "100 bytes", "8 for each", "107 bytes", "memory limit"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  EXPECT_THROW((void)plan_batches(std::vector<std::uint32_t>{0}, 5, {100, 8}, 99), OutOfMemory);
  EXPECT_EQ(plan_batches(std::vector<std::uint32_t>{0}, 5, {100, 8}, 100).size(), 1u);
  EXPECT_EQ(plan_batches(std::vector<std::uint32_t>{3}, 5, {100, 8}, 108).size(), 5u);
  EXPECT_TRUE(plan_batches({}, 5, {100, 8}, 0).empty());
}

}  // namespace
}  // namespace rthiss::test
