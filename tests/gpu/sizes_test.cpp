#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "batching/batch_plan.hpp"
#include "engine/cuda/hierarchy.hpp"
#include "engine/cuda/launch.hpp"
#include "grouping/leaf_ranges.hpp"

// Arithmetic of sizes for three billion rows; needs no device.
namespace rthiss::test {
namespace {

constexpr std::uint64_t kRows = 3'000'000'000;

TEST(GpuSizes, GridsOfKernels) {
  EXPECT_EQ(cuda::blocks_for(kRows * 32, 128), 750'000'000U);  // one warp a row; the limit is 2^31 - 1
  EXPECT_EQ(cuda::blocks_for(kRows, 256), 11'718'750U);
  EXPECT_EQ(cuda::blocks_for(kRows + 1, 256), 11'718'751U);
  EXPECT_LE(cuda::grid_for(kRows * 128, 256), 16384U);
  EXPECT_EQ(cuda::grid_for(0, 256), 1U);
}

TEST(GpuSizes, Hierarchies) {
  cuda::Hierarchy hierarchy;
  // 93,750,000 + 2,929,688 + 91,553 + 2,862 + 90 + 3 + 1 nodes.
  EXPECT_EQ(cuda::set_levels(hierarchy, kRows), 96'774'197U);
  EXPECT_EQ(hierarchy.levels, 7);
  EXPECT_EQ(hierarchy.level_begin[1], 93'750'000U);
  EXPECT_EQ(96'774'197U * cuda::hierarchy_node_floats(16), 102'193'552'032U);
  EXPECT_LE(cuda::set_levels(hierarchy, std::numeric_limits<std::uint32_t>::max()), std::uint64_t{1} << 28);
  EXPECT_LE(hierarchy.levels, cuda::Hierarchy::kMostLevels);
  EXPECT_EQ(cuda::set_levels(hierarchy, 0), 0U);
  EXPECT_EQ(cuda::set_levels(hierarchy, 1), 1U);
  EXPECT_EQ(cuda::set_levels(hierarchy, 33), 3U);
}

TEST(GpuSizes, Leaves) {
  const LeafRanges sized = LeafRanges::of_leaf_size(kRows, 64);
  EXPECT_EQ(sized.leaves(), 46'875'000U);
  EXPECT_EQ(sized.begin(46'874'999), 2'999'999'936U);
  const LeafRanges high = LeafRanges::of_height(kRows, 31);
  for (const std::uint64_t leaf :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 30, (std::uint64_t{1} << 31) - 1}) {
    const std::uint64_t begin = high.begin(leaf);
    EXPECT_EQ(((begin + 1) * (std::uint64_t{1} << 31) - 1) / kRows, leaf);  // the way back, as along a curve
  }
  EXPECT_EQ(high.begin(std::uint64_t{1} << 31), kRows);
}

TEST(GpuSizes, BatchesOfManyCandidates) {
  const std::vector<std::uint32_t> counts(100, 46'875'000);
  const BatchPlan plan = plan_batches(counts, 46'875'000, {64 * 64, 4 + 9 * 64}, std::uint64_t{1} << 40);
  std::uint64_t candidates = 0;
  std::uint32_t end = 0;
  for (const QueryBatch& batch : plan) {
    EXPECT_EQ(batch.block_begin, end);
    EXPECT_LE(batch.predicted_bytes, std::uint64_t{1} << 40);
    end = batch.block_end;
    candidates += batch.candidates;
  }
  EXPECT_EQ(end, 100U);
  EXPECT_EQ(candidates, 4'687'500'000U);
}

}  // namespace
}  // namespace rthiss::test
