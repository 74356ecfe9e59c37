#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include "box_world.hpp"
#include "index/registry.hpp"

namespace rthiss::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::string> usable_indexes() {
  std::vector<std::string> names;
  for (const Availability& index : index_availability()) {
    if (index.available) names.push_back(index.name);
  }
  return names;
}

/// Components that an index of that name can look at.
std::size_t components_of(const std::string& name, std::size_t asked) {
  if (name == "exhaustive") return 0;
  return name == "embree" ? std::min<std::size_t>(asked, 3) : asked;
}

CandidateRange whole(const GroupBounds& blocks, const GroupBounds& groups) {
  CandidateRange range;
  range.blocks = &blocks;
  range.block_end = static_cast<std::uint32_t>(blocks.groups);
  range.group_end = static_cast<std::uint32_t>(groups.groups);
  return range;
}

class Index : public testing::TestWithParam<std::string> {
 protected:
  ThreadPool pool_{2};

  [[nodiscard]] std::vector<std::vector<std::uint32_t>> lists(const GroupBounds& blocks, const GroupBounds& groups,
                                                              const CandidateTest& test) const {
    const std::unique_ptr<GroupIndex> index = make_index(GetParam());
    index->build(groups, test, pool_);
    return lists_of(*index, whole(blocks, groups), pool_);
  }

  /// Every pair that is near in exact arithmetic is listed; gives the number of pairs listed.
  std::size_t expect_superset(const std::vector<Box>& blocks, const std::vector<Box>& groups, CandidateTest test,
                              std::size_t components) const {
    const auto found = lists(bounds_of(blocks, components), bounds_of(groups, components), test);
    std::size_t listed = 0;
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      listed += found[b].size();
      for (std::uint32_t g = 0; g < groups.size(); ++g) {
        if (std::binary_search(found[b].begin(), found[b].end(), g)) continue;
        const std::size_t used = std::min(test.components, components);
        EXPECT_FALSE(near_exactly(blocks[b], groups[g], test.radius, used, test.box_distance))
            << "block " << b << " group " << g << " radius " << test.radius;
      }
    }
    return listed;
  }
};

std::vector<Box> random_boxes(std::mt19937& random, std::size_t count, std::size_t components, float scale,
                              float extent, float error) {
  std::uniform_real_distribution<float> place(-scale, scale), size(0.0f, extent * scale);
  std::vector<Box> boxes(count);
  for (Box& box : boxes) {
    for (std::size_t c = 0; c < components; ++c) {
      const float low = place(random);
      box.low.push_back(low);
      box.high.push_back(random() % 4 == 0 ? low : low + size(random));
    }
    box.error = random() % 3 == 0 ? 0.0f : error * scale;
  }
  return boxes;
}

TEST_P(Index, ListsEveryNearGroupOfRandomBoxes) {
  std::mt19937 random(7);
  for (const float scale : {1e-44f, 1e-30f, 1e-20f, 1.0f, 3e5f, 1e18f, 1e19f, 1e30f, 1.5e38f}) {
    for (const std::size_t components : {1u, 2u, 3u, 4u, 5u, 17u}) {
      const auto blocks = random_boxes(random, 9, components, scale, 0.1f, 0.01f);
      const auto groups = random_boxes(random, 35, components, scale, 0.1f, 0.02f);
      for (const bool box_distance : {true, false}) {
        const CandidateTest test{0.4 * scale, components, false, box_distance};
        const std::size_t listed = expect_superset(blocks, groups, test, components);
        const bool prunes = GetParam() != "exhaustive" && scale > 1e-18f && scale < 1e18f;
        if (prunes) {
          EXPECT_LT(listed, blocks.size() * groups.size());
        }
      }
    }
  }
}

/// Point boxes whose distance is the radius up to an ulp to either side.
TEST_P(Index, ListsGroupsThatTouchAtTheRadius) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> place(-1.0f, 1.0f);
  for (const float scale : {1e-40f, 1e-15f, 1.0f, 1e15f}) {
    for (const float offset : {0.0f, 8388608.0f}) {
      for (int round = 0; round < 40; ++round) {
        const std::size_t components = 1 + random() % 6;
        Box block, group;
        double square = 0.0;
        const std::size_t used = components_of(GetParam(), components);
        for (std::size_t c = 0; c < components; ++c) {
          const float a = (place(random) + offset) * scale, b = (place(random) + offset) * scale;
          block.low.push_back(a);
          group.low.push_back(b);
          if (c < used) square += (double{a} - b) * (double{a} - b);
        }
        block.high = block.low;
        group.high = group.low;
        const double radius = std::sqrt(square);
        for (const double r : {std::nextafter(radius, 0.0), radius, std::nextafter(radius, 1e300)}) {
          expect_superset({block}, {group}, {r, components, false, true}, components);
          expect_superset({block}, {group}, {r, components, false, false}, components);
        }
      }
    }
  }
}

/// Not only a superset: at distances clearly beyond the radius nothing is listed.
TEST_P(Index, RefusesWhatIsClearlyFarther) {
  if (GetParam() == "exhaustive") GTEST_SKIP() << "lists everything by design";
  std::mt19937 random(13);
  std::normal_distribution<float> normal;
  for (const double slack : {1e-5, 0.5}) {
    for (int round = 0; round < 300; ++round) {
      const std::size_t components = 1 + random() % 3;
      Box block, group;
      double square = 0.0;
      for (std::size_t c = 0; c < components; ++c) {
        block.low.push_back(normal(random));
        group.low.push_back(normal(random));
        square += std::pow(double{block.low[c]} - group.low[c], 2);
      }
      block.high = block.low;
      group.high = group.low;
      const CandidateTest test{std::sqrt(square) / (1.0 + slack), components, false, true};
      EXPECT_EQ(expect_superset({block}, {group}, test, components), 0u);
    }
  }
}

TEST_P(Index, InfiniteErrorsAlwaysCount) {
  Box near{{0, 0, 0}, {1, 1, 1}, 0.0f}, far{{1e30f, 0, 0}, {1e30f, 1, 1}, 0.0f}, lost = far;
  lost.error = kInfinity;
  const auto groups = bounds_of({near, far, lost}, 3);
  const auto found = lists(bounds_of({near, lost}, 3), groups, {1.0, 3, false, true});
  if (GetParam() != "exhaustive") {
    EXPECT_EQ(found[0], (std::vector<std::uint32_t>{0, 2}));
  }
  EXPECT_EQ(found[1], (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_P(Index, InfiniteAndHugeRadiusListsAll) {
  const auto groups = bounds_of({{{0, 0, 0}, {1, 1, 1}}, {{3e38f, 3e38f, -3e38f}, {3e38f, 3e38f, -3e38f}}}, 3);
  for (const double radius : {1e39, 1e300, std::numeric_limits<double>::max()}) {
    for (const bool box_distance : {true, false}) {
      for (const auto& list : lists(groups, groups, {radius, 3, false, box_distance})) EXPECT_EQ(list.size(), 2u);
    }
  }
}

TEST_P(Index, SphereBoxesHoldTheSphere) {
  Box point{{0, 0, 0}, {0, 0, 0}};
  GroupBounds groups = bounds_of({point, point}, 3);
  groups.sphere_center[0] = 5.0f;
  groups.sphere_center[1] = 5.0f;
  groups.sphere_radius[0] = 2.0f;
  groups.sphere_radius[1] = 1.5f;
  const auto found = lists(bounds_of({point}, 3), groups, {3.0, 16, true, true});
  EXPECT_EQ(found[0].front(), 0u);
  if (GetParam() != "exhaustive") {
    EXPECT_EQ(found[0].size(), 1u);
  }
}

TEST_P(Index, TakesRangesAndEachPairOnce) {
  std::mt19937 random(17);
  for (const std::size_t count : {1u, 15u, 16u, 17u, 33u, 255u, 256u, 257u, 300u}) {
    const auto bounds = bounds_of(random_boxes(random, count, 4, 1.0f, 0.2f, 0.0f), 4);
    const auto index = make_index(GetParam());
    index->build(bounds, {0.6, 4, false, true}, pool_);
    const auto all = lists_of(*index, whole(bounds, bounds), pool_);
    const auto n = static_cast<std::uint32_t>(count);
    for (int round = 0; round < 12; ++round) {
      CandidateRange range = whole(bounds, bounds);
      const auto pick = [&](std::uint32_t from) {
        return from + static_cast<std::uint32_t>(random() % (n - from + 1));
      };
      range.block_begin = pick(0);
      range.block_end = pick(range.block_begin);
      range.group_begin = pick(0);
      range.group_end = pick(range.group_begin);
      range.each_pair_once = round % 2 == 0;
      if (round % 4 == 0) range.whole_block_begin = static_cast<std::uint32_t>(random() % (range.block_begin + 1));
      const std::uint32_t once_from = range.whole_block_begin.value_or(range.block_begin);
      const auto found = lists_of(*index, range, pool_);
      for (std::uint32_t block = range.block_begin; block < range.block_end; ++block) {
        std::vector<std::uint32_t> expected;
        for (const std::uint32_t group : all[block]) {
          if (group < range.group_begin || group >= range.group_end) continue;
          if (range.each_pair_once && once_from <= group && group < block) continue;
          expected.push_back(group);
        }
        EXPECT_EQ(found[block], expected) << "block " << block << " of " << n;
      }
    }
  }
}

TEST_P(Index, SameListsForEveryThreadCount) {
  std::mt19937 random(19);
  const auto bounds = bounds_of(random_boxes(random, 700, 5, 1.0f, 0.05f, 0.001f), 5);
  std::vector<std::vector<std::uint32_t>> first;
  for (const int threads : {1, 2, 4}) {
    const ThreadPool pool(threads);
    const auto index = make_index(GetParam());
    index->build(bounds, {0.5, 5, false, true}, pool);
    const auto found = lists_of(*index, whole(bounds, bounds), pool);
    if (threads == 1) first = found;
    EXPECT_EQ(found, first);
  }
}

TEST_P(Index, HandlesNoGroupsAndNoBlocks) {
  const auto none = bounds_of({}, 3);
  const auto one = bounds_of({{{0, 0, 0}, {1, 1, 1}}}, 3);
  EXPECT_TRUE(lists(one, none, {1.0, 3, false, true})[0].empty());
  EXPECT_TRUE(lists(none, one, {1.0, 3, false, true}).empty());
  EXPECT_EQ(lists(one, one, {0.0, 3, false, true})[0].size(), 1u);
}

TEST_P(Index, RefusesRangesThatAreNotThere) {
  const auto one = bounds_of({{{0, 0, 0}, {1, 1, 1}}}, 3);
  const auto index = make_index(GetParam());
  index->build(one, {1.0, 3, false, true}, pool_);
  CandidateRange range = whole(one, one);
  range.group_end = 2;
  EXPECT_THROW(index->visit(range, pool_, [](auto, auto, auto) {}), InvalidArgument);
  range = whole(one, one);
  range.block_end = 2;
  EXPECT_THROW(index->visit(range, pool_, [](auto, auto, auto) {}), InvalidArgument);
}

TEST_P(Index, PassesOnWhatAVisitorThrows) {
  const auto one = bounds_of({{{0, 0, 0}, {1, 1, 1}}}, 3);
  const auto index = make_index(GetParam());
  index->build(one, {1.0, 3, false, true}, pool_);
  EXPECT_THROW(index->visit(whole(one, one), pool_, [](auto, auto, auto) { throw std::runtime_error("visitor"); }),
               std::runtime_error);
}

#if defined(__x86_64__)
/// With flush-to-zero and another rounding set by the caller: the same lists, and the caller's state is kept.
TEST_P(Index, KeepsTheCallersFloatingPointState) {
  std::mt19937 random(23);
  const auto bounds = bounds_of(random_boxes(random, 80, 3, 1e-36f, 0.1f, 0.0f), 3);
  const CandidateTest test{3e-37, 3, false, false};
  const auto expected = lists(bounds, bounds, test);
  const unsigned before = _mm_getcsr();
  constexpr unsigned flush_and_round_down = 0x8040 | 0x2000, sticky = 0x3F;
  for (const unsigned control : {before, before | flush_and_round_down}) {
    _mm_setcsr(control);
    const auto found = lists(bounds, bounds, test);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after & ~sticky, control & ~sticky);
    EXPECT_EQ(found, expected);
  }
}
#endif

/// Two indexes that look at the same components differ only by what lies within rounding of the radius.
TEST(EmbreeAndBvh, ListTheSameGroupsInThreeComponents) {
  const auto names = usable_indexes();
  if (std::find(names.begin(), names.end(), "embree") == names.end()) GTEST_SKIP() << "embree is not built";
  std::mt19937 random(29);
  const ThreadPool pool(2);
  for (const float scale : {1e-12f, 1.0f, 1e25f}) {
    for (const std::size_t components : {1u, 2u, 3u}) {
      const auto groups = bounds_of(random_boxes(random, 500, components, scale, 0.05f, 0.001f), components);
      const auto blocks = bounds_of(random_boxes(random, 100, components, 3.0f * scale, 0.3f, 0.01f), components);
      for (const bool box_distance : {true, false}) {
        if (scale > 1e18f && box_distance) continue;  // squares overflow: bvh lists all, embree what it reaches
        const CandidateTest test{0.2 * scale, components, false, box_distance};
        const auto bvh = make_index("bvh"), embree = make_index("embree");
        bvh->build(groups, test, pool);
        embree->build(groups, test, pool);
        EXPECT_EQ(lists_of(*bvh, whole(blocks, groups), pool), lists_of(*embree, whole(blocks, groups), pool));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Index, testing::ValuesIn(usable_indexes()),
                         [](const auto& parameter) { return parameter.param; });

TEST(IndexRegistry, NamesWhatIsThere) {
  EXPECT_THROW(make_index("octree"), InvalidArgument);
  for (const Availability& index : index_availability()) {
    EXPECT_FALSE(index.detail.empty());
    if (index.available) {
      EXPECT_NE(make_index(index.name), nullptr);
    } else {
      EXPECT_THROW(make_index(index.name), UnsupportedError);
    }
  }
}

}  // namespace
}  // namespace rthiss::test
