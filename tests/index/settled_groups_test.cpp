#include "index/settled_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "box_world.hpp"
#include "index/allowed_groups.hpp"

namespace rthiss::test {
namespace {

/// Every number of these tests is a multiple of this and below 2^17, so that squares and their sums are exact.
constexpr float kStep = 0.125F;

/// The largest distance from one box to the other plus both errors is at most the radius.
bool all_within_exactly(const Box& block, const Box& group, double radius, bool with_rest) {
  const double reach = radius - block.error - group.error;
  if (reach < 0) return false;
  double sum = 0;
  for (std::size_t c = 0; c < block.low.size(); ++c) {
    const bool rest = with_rest && c + 1 == block.low.size();
    const float widest =
        rest ? block.high[c] + group.high[c] : std::max(block.high[c] - group.low[c], group.high[c] - block.low[c]);
    sum += double{widest} * double{widest};
  }
  return sum <= reach * reach;
}

/// Boxes along a line with jumps, so that neighbours in the order are near each other in space, as groups are.
std::vector<Box> line_of_boxes(std::size_t count, std::size_t components, bool errors, unsigned seed) {
  std::mt19937 random(seed);
  const auto step = [&] { return kStep * static_cast<float>(random() % 16); };
  std::vector<Box> boxes(count);
  float place = 0.0F;
  for (std::size_t i = 0; i < count; ++i) {
    place += i % 100 == 99 ? 500.0F : step();
    for (std::size_t c = 0; c < components; ++c) {
      const float low = c == 0 ? place : step();
      boxes[i].low.push_back(low);
      boxes[i].high.push_back(low + step());
    }
    boxes[i].error = errors ? step() : 0.0F;
  }
  return boxes;
}

class SettledGroupsOf : public testing::TestWithParam<std::tuple<std::size_t, bool, bool>> {};

TEST_P(SettledGroupsOf, AreWithinTheRadiusAsAWholeAndNoneElseIsLeftOut) {
  const auto [count, with_rest, errors] = GetParam();
  constexpr std::size_t kComponents = 6;
  const std::vector<Box> boxes = line_of_boxes(count, kComponents, errors, 5);
  const GroupBounds bounds = bounds_of(boxes, kComponents);
  std::size_t found = 0;
  for (const double radius : {0.0, 3.0, 30.0, 600.0, 65536.0}) {
    const SettledGroups settled(bounds, radius, with_rest);
    CandidateRange range;
    range.blocks = &bounds;
    range.block_end = range.group_end = static_cast<std::uint32_t>(count);
    range.settled = &settled;
    SettledGroups::Finder finder;
    OpenGroups open;
    for (std::uint32_t block = 0; block < count; ++block) {
      const GroupInterval part{block / 2, static_cast<std::uint32_t>(count - block / 3)};
      range.group_begin = part.begin;
      range.group_end = part.end;
      std::vector<int> seen(count, 0);
      std::uint32_t last = 0;
      for (const GroupInterval interval : finder.find(settled, bounds, block, part)) {
        ASSERT_FALSE(interval.empty());
        ASSERT_TRUE(interval.begin > last || last == 0) << "intervals ascend and do not touch";
        ASSERT_TRUE(interval.begin >= part.begin && interval.end <= part.end);
        last = interval.end;
        found += interval.end - interval.begin;
        for (std::uint32_t group = interval.begin; group < interval.end; ++group) {
          ++seen[group];
          ASSERT_TRUE(all_within_exactly(boxes[block], boxes[group], radius, with_rest))
              << "block " << block << " group " << group << " radius " << radius;
        }
      }
      for (const GroupInterval interval : open.find(range, block)) {
        for (std::uint32_t group = interval.begin; group < interval.end; ++group) ++seen[group];
      }
      for (std::uint32_t group = 0; group < count; ++group) {
        ASSERT_EQ(seen[group], group >= part.begin && group < part.end ? 1 : 0) << "block " << block << " " << group;
      }
    }
  }
  // Everything is within the largest radius of everything.
  EXPECT_EQ(found > 0, count > 1);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SettledGroupsOf,
                         testing::Combine(testing::Values<std::size_t>(0, 1, 2, 15, 16, 17, 255, 256, 257),
                                          testing::Bool(), testing::Bool()));

TEST(SettledGroups, ARadiusThatJustFailsSettlesNothing) {
  // Two points at distance 5: sqrt(25) is the border, an error or the next smaller radius is beyond it.
  std::vector<Box> boxes = {{{0.0F, 0.0F}, {0.0F, 0.0F}, 0.0F}, {{3.0F, 4.0F}, {3.0F, 4.0F}, 0.0F}};
  const auto settles = [&](double radius) {
    const GroupBounds bounds = bounds_of(boxes, 2);
    SettledGroups::Finder finder;
    return !finder.find(SettledGroups(bounds, radius, false), bounds, 0, {0, 2}).empty();
  };
  EXPECT_FALSE(settles(std::nextafter(5.0, 0.0)));
  EXPECT_TRUE(settles(5.0 * (1.0 + 0x1p-39)));
  EXPECT_FALSE(settles(-1.0));
  EXPECT_TRUE(settles(std::numeric_limits<double>::infinity()));
  boxes[1].error = 0x1p-20F;
  EXPECT_FALSE(settles(5.0 * (1.0 + 0x1p-39)));
  boxes[1].error = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(settles(std::numeric_limits<double>::infinity()));
}

}  // namespace
}  // namespace rthiss::test
