#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "common/parallel.hpp"
#include "geometry/morton_code.hpp"
#include "grouping/grouping.hpp"
#include "grouping/leaf_ranges.hpp"
#include "support/projected_values.hpp"

namespace rthiss::test {
namespace {

std::vector<std::uint32_t> copy_of(const Array<std::uint32_t>& array) { return {array.begin(), array.end()}; }

/// The definition, level by level, with a full sort: which ids stand in [begin, end) after all splits.
void split_plainly(const ProjectedPoints& points, const GroupingOptions& options, const LeafRanges& leaves,
                   std::uint64_t first, std::uint64_t last, int depth, std::vector<std::uint32_t>& ids) {
  const std::size_t begin = leaves.begin(first), end = leaves.begin(last);
  if (last - first <= 1 || end - begin <= 1) {
    std::sort(ids.begin() + begin, ids.begin() + end);
    return;
  }
  const std::size_t components = std::min(options.split_components, points.width);
  std::size_t component = static_cast<std::size_t>(depth) % components;
  if (options.split == SplitRule::kWidest) {
    float widest = -1.0f;
    for (std::size_t c = 0; c < components; ++c) {
      float low = std::numeric_limits<float>::infinity(), high = -low;
      for (std::size_t i = begin; i < end; ++i) {
        low = std::min(low, points.values[ids[i] * points.stride + c]);
        high = std::max(high, points.values[ids[i] * points.stride + c]);
      }
      if (high - low > widest) std::tie(widest, component) = std::tuple(high - low, c);
    }
  }
  std::sort(ids.begin() + begin, ids.begin() + end, [&](std::uint32_t a, std::uint32_t b) {
    const float x = points.values[a * points.stride + component], y = points.values[b * points.stride + component];
    return x != y ? x < y : a < b;
  });
  const std::uint64_t middle = LeafRanges::middle(first, last);
  split_plainly(points, options, leaves, first, middle, depth + 1, ids);
  split_plainly(points, options, leaves, middle, last, depth + 1, ids);
}

void expect_tree(const ProjectedPoints& points, const GroupingOptions& options, const ThreadPool& pool) {
  const std::size_t n = points.points;
  const Grouping grouping = build_kd_tree(points, options, pool);
  const LeafRanges leaves =
      options.height >= 0 ? LeafRanges::of_height(n, options.height) : LeafRanges::of_leaf_size(n, options.leaf_size);
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t i = 0; i < n; ++i) ids[i] = i;
  split_plainly(points, options, leaves, 0, leaves.leaves(), 0, ids);
  ASSERT_EQ(copy_of(grouping.original_id), ids);

  ASSERT_EQ(grouping.group_begin[0], 0u);
  ASSERT_EQ(grouping.group_begin[grouping.groups()], n);
  std::size_t smallest = n, largest = 0;
  for (std::size_t g = 0; g < grouping.groups(); ++g) {
    const std::size_t size = grouping.group_begin[g + 1] - grouping.group_begin[g];
    ASSERT_GT(size, 0u);
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
    if (options.height < 0 && g + 1 < grouping.groups()) {
      ASSERT_EQ(size, options.leaf_size);
    }
  }
  if (options.height >= 0) {
    ASSERT_EQ(grouping.groups(), std::min<std::size_t>(n, std::size_t{1} << options.height));
    if (n > 0) {
      ASSERT_LE(largest - smallest, 1u);
    }
  }
}

TEST(KdTree, IsTheMedianSplitTreeForAllSmallSizes) {
  const ThreadPool pool(2);
  for (std::size_t n = 0; n <= 200; n += n < 70 ? 1 : 13) {
    for (const float levels : {0.0f, 3.0f, 1e6f}) {  // all equal, many duplicates, hardly any
      const ProjectedPoints points = integer_values(n, 1 + n % 6, levels, static_cast<unsigned>(n));
      for (const SplitRule split : {SplitRule::kCycle, SplitRule::kWidest}) {
        for (const int height : {0, 1, 2, 3, 5, 8, 31}) {
          ASSERT_NO_FATAL_FAILURE(expect_tree(points, {split, GroupOrder::kTree, 3, height, 0}, pool))
              << n << " points, height " << height;
        }
        for (const std::size_t size : {1u, 2u, 7u, 16u, 64u, 1000u}) {
          ASSERT_NO_FATAL_FAILURE(expect_tree(points, {split, GroupOrder::kTree, 16, -1, size}, pool))
              << n << " points, leaves of " << size;
        }
      }
    }
  }
}

/// Large enough for the levels that all threads split together and for subtrees on copies.
TEST(KdTree, IsTheMedianSplitTreeForLargeSizes) {
  for (const int threads : {1, 2, 4}) {
    const ThreadPool pool(threads);
    for (const std::size_t width : {3u, 7u, 40u}) {
      for (const float levels : {2.0f, 1e6f}) {
        const ProjectedPoints points = integer_values(20011, width, levels, 5);
        ASSERT_NO_FATAL_FAILURE(expect_tree(points, {SplitRule::kWidest, GroupOrder::kTree, 16, -1, 64}, pool));
        ASSERT_NO_FATAL_FAILURE(expect_tree(points, {SplitRule::kCycle, GroupOrder::kTree, 3, 10, 0}, pool));
        ASSERT_NO_FATAL_FAILURE(expect_tree(points, {SplitRule::kWidest, GroupOrder::kTree, 33, -1, 61}, pool));
      }
    }
  }
}

TEST(KdTree, TakesHugeAndTinyValuesAndSignedZeros) {
  const ThreadPool pool(1);
  ProjectedPoints points = integer_values(9, 1, 0.0f, 1);
  const float values[] = {3.4e38f, -3.4e38f, 1e-45f, -1e-45f, 0.0f, -0.0f, 1.0f, -1.0f, 0.0f};
  for (std::size_t i = 0; i < 9; ++i) points.values[i * points.stride] = values[i];
  const Grouping grouping = build_kd_tree(points, {SplitRule::kWidest, GroupOrder::kTree, 1, -1, 1}, pool);
  EXPECT_EQ(copy_of(grouping.original_id), (std::vector<std::uint32_t>{1, 7, 3, 4, 5, 8, 2, 6, 0}));
}

TEST(KdTree, MortonOrderSortsTheSameGroups) {
  const ThreadPool pool(2);
  const ProjectedPoints points = integer_values(1003, 5, 1e6f, 3);
  GroupingOptions options{SplitRule::kWidest, GroupOrder::kTree, 5, -1, 16};
  for (const int height : {-1, 4}) {
    options.height = height;
    options.order = GroupOrder::kTree;
    const Grouping tree = build_kd_tree(points, options, pool);
    options.order = GroupOrder::kMorton;
    const Grouping morton = build_kd_tree(points, options, pool);
    const auto groups_of = [](const Grouping& grouping) {
      std::vector<std::vector<std::uint32_t>> groups;
      for (std::size_t g = 0; g < grouping.groups(); ++g) {
        groups.emplace_back(grouping.original_id.data() + grouping.group_begin[g],
                            grouping.original_id.data() + grouping.group_begin[g + 1]);
      }
      return groups;
    };
    auto expected = groups_of(tree), found = groups_of(morton);
    if (height < 0) {
      EXPECT_EQ(found.back().size(), 1003u % 16);
    }

    // Codes of the box centres ascend, but for the short group that stays last.
    std::vector<std::array<double, 3>> centres;
    std::array<double, 3> low, high;
    low.fill(1e300);
    high.fill(-1e300);
    for (const auto& group : found) {
      std::array<double, 3> centre{};
      for (std::size_t a = 0; a < 3; ++a) {
        double least = 1e300, greatest = -1e300;
        for (const std::uint32_t id : group) {
          least = std::min<double>(least, points.values[id * points.stride + a]);
          greatest = std::max<double>(greatest, points.values[id * points.stride + a]);
        }
        centre[a] = (least + greatest) / 2;
        low[a] = std::min(low[a], centre[a]);
        high[a] = std::max(high[a], centre[a]);
      }
      centres.push_back(centre);
    }
    std::vector<std::uint64_t> codes;
    for (const auto& c : centres) {
      codes.push_back(morton_code(morton_cell(c[0], low[0], high[0]), morton_cell(c[1], low[1], high[1]),
                                  morton_cell(c[2], low[2], high[2])));
    }
    EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end() - (height < 0 ? 1 : 0)));

    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

TEST(KdTree, RefusesOptionsThatMakeNoTree) {
  const ThreadPool pool(1);
  const ProjectedPoints points = integer_values(10, 3, 10.0f, 1);
  const auto build = [&](const GroupingOptions& options) { (void)build_kd_tree(points, options, pool); };
  EXPECT_THROW(build({SplitRule::kCycle, GroupOrder::kTree, 3, 32, 0}), InvalidArgument);
  EXPECT_THROW(build({SplitRule::kCycle, GroupOrder::kTree, 3, -1, 0}), InvalidArgument);
  EXPECT_THROW(build({SplitRule::kCycle, GroupOrder::kTree, 0, 2, 0}), InvalidArgument);
}

TEST(LeafRanges, StayExactNearTheLimits) {
  const std::uint64_t n = 4294967295;
  const LeafRanges by_height = LeafRanges::of_height(n, 31);
  EXPECT_EQ(by_height.begin(by_height.leaves()), n);
  for (const std::uint64_t leaf : {std::uint64_t{0}, by_height.leaves() / 3, by_height.leaves() - 1}) {
    const std::uint64_t size = by_height.begin(leaf + 1) - by_height.begin(leaf);
    EXPECT_TRUE(size == 1 || size == 2);
  }
  const LeafRanges by_size = LeafRanges::of_leaf_size(n, 64);
  EXPECT_EQ(by_size.leaves(), 67108864u);
  EXPECT_EQ(by_size.height(), 26);
  EXPECT_EQ(by_size.begin(by_size.leaves() - 1), n - 63);
  EXPECT_EQ(by_size.begin(by_size.leaves()), n);
}

TEST(MortonCode, InterleavesBits) {
  EXPECT_EQ(morton_code(1, 0, 0), 4u);
  EXPECT_EQ(morton_code(0, 1, 0), 2u);
  EXPECT_EQ(morton_code(0, 0, 1), 1u);
  EXPECT_EQ(morton_code(0x1FFFFF, 0x1FFFFF, 0x1FFFFF), 0x7FFFFFFFFFFFFFFFu);
  for (int bit = 0; bit < kMortonBitsPerAxis; ++bit) {
    EXPECT_EQ(spread_bits_by_three(1u << bit), std::uint64_t{1} << (3 * bit));
  }
  EXPECT_EQ(morton_cell(1.0, 0.0, 1.0), 0x1FFFFFu);
  EXPECT_EQ(morton_cell(0.0, 0.0, 1.0), 0u);
  EXPECT_EQ(morton_cell(0.5, 0.0, 1.0), 0x100000u);
  EXPECT_EQ(morton_cell(5.0, 5.0, 5.0), 0u);
}

}  // namespace
}  // namespace rthiss::test
