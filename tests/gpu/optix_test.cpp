#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engine/cuda/candidate_pass.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/optix/availability.hpp"
#include "engine/cuda/optix/optix_index.hpp"
#include "engine/cuda/search_context.hpp"
#include "geometry/rounding.hpp"

// The index 'optix' against its test on the host, for equality, where a ray tracer is most likely to lose something.
namespace rthiss::test {
namespace {

constexpr std::uint32_t kStride = 8;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Boxes and queries on the host.
struct World {
  std::vector<float> low, high, error, sphere;            // groups
  std::vector<float> queries, query_error;                // single ones
  std::vector<float> block_low, block_high, block_error;  // boxes of blocks
  std::vector<std::uint32_t> query_begin;                 // of blocks

  [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(error.size()); }
  [[nodiscard]] std::uint32_t query_count() const { return static_cast<std::uint32_t>(query_error.size()); }
  [[nodiscard]] std::uint32_t blocks() const { return static_cast<std::uint32_t>(query_begin.size() - 1); }

  void add_group(const float (&from)[3], const float (&to)[3], float e) {
    for (std::uint32_t c = 0; c < kStride; ++c) {
      low.push_back(c < 3 ? from[c] : 0.0F);
      high.push_back(c < 3 ? to[c] : 0.0F);
    }
    double square = 0.0;
    for (int c = 0; c < 3; ++c) {
      sphere.push_back(0.5F * from[c] + 0.5F * to[c]);
      const double half = std::max(static_cast<double>(to[c]) - static_cast<double>(sphere.back()),
                                   static_cast<double>(sphere.back()) - static_cast<double>(from[c]));
      square += half * half;
    }
    sphere.push_back(round_up_to_float(std::sqrt(square) * (1.0 + 0x1p-40)));
    error.push_back(e);
  }

  void add_query(float x, float y, float z, float e = 0.0F) {
    for (const float value : {x, y, z, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}) queries.push_back(value);
    query_error.push_back(e);
  }

  /// Blocks of 1 to 70 queries.
  void make_blocks(std::mt19937& random) {
    query_begin = {0};
    while (query_begin.back() < query_count()) {
      query_begin.push_back(std::min<std::uint32_t>(query_count(), query_begin.back() + 1 + random() % 70));
    }
    for (std::uint32_t b = 0; b < blocks(); ++b) {
      float e = 0.0F;
      for (std::uint32_t q = query_begin[b]; q < query_begin[b + 1]; ++q) e = std::max(e, query_error[q]);
      block_error.push_back(e);
    }
    block_low.assign(std::size_t{blocks()} * kStride, 0.0F);  // optix looks at the queries themselves
    block_high = block_low;
  }

  [[nodiscard]] bool is_near(const CandidateTest& test, const CandidateThreshold& threshold, std::uint32_t q,
                             std::uint32_t g) const {
    float sum = 0.0F;
    for (std::uint32_t c = 0; c < 3; ++c) {
      const float x = queries[std::size_t{q} * kStride + c];
      float from = low[std::size_t{g} * kStride + c], to = high[std::size_t{g} * kStride + c];
      if (test.sphere_boxes) {
        from = add_down(sphere[std::size_t{g} * 4 + c], -sphere[std::size_t{g} * 4 + 3]);
        to = add_up(sphere[std::size_t{g} * 4 + c], sphere[std::size_t{g} * 4 + 3]);
      }
      const float gap = std::max({x - to, from - x, 0.0F});
      sum = threshold.squared() ? std::fma(gap, gap, sum) : std::max(sum, gap);
    }
    return sum <= threshold(threshold.reach(query_error[q]), error[g]);
  }
};

/// Queries on the corners, edges and faces of the box widened by the radius, and one unit in the last place to each
/// side, in every axis.
void add_telling_queries(World& world, const float (&from)[3], const float (&to)[3], float radius) {
  std::vector<float> places[3];
  for (int c = 0; c < 3; ++c) {
    for (const float side : {from[c] - radius, to[c] + radius, from[c], to[c]}) {
      for (const float value : {side, next_above(side), next_below(side)}) places[c].push_back(value);
    }
    places[c].push_back(0.5F * from[c] + 0.5F * to[c]);
  }
  for (const float x : places[0]) {
    for (const float y : places[1]) {
      for (const float z : places[2]) world.add_query(x, y, z);
    }
  }
}

World telling_world(float scale, float offset, float radius, unsigned seed) {
  World world;
  std::mt19937 random(seed);
  const auto coordinate = [&] { return (offset + static_cast<float>(random() % 64)) * scale; };
  for (int i = 0; i < 150; ++i) {
    float from[3], to[3];
    for (int c = 0; c < 3; ++c) {
      from[c] = coordinate();
      to[c] = from[c] + static_cast<float>(random() % 5) * scale;
      if (i % 5 == 0 || (i % 5 == 1 && c == 1)) to[c] = from[c];  // points, flat boxes
    }
    world.add_group(from, to, 0.0F);
    if (i % 10 == 3) world.add_group(from, to, 0.0F);  // the same once more
    // A point, a flat box and a whole one of each kind.
    if (i % 50 < 3) add_telling_queries(world, from, to, radius);
  }
  for (int i = 0; i < 300; ++i) world.add_query(coordinate(), coordinate(), coordinate());
  return world;
}

class Optix : public testing::Test {
 protected:
  void SetUp() override {
    const cuda::optix::OptixReport report = cuda::optix::describe_optix(0);
    if (!report.usable) GTEST_SKIP() << report.text;
  }

  template <typename T>
  cuda::DeviceArray<T> upload(const std::vector<T>& values) {
    return cuda::copy_to_device(values.data(), values.size(), memory_, context_.stream(), "test");
  }

  template <typename T>
  std::vector<T> to_host(const T* values, std::size_t count) {
    std::vector<T> out(count);
    cuda::copy_to_host(values, count, out.data(), context_.stream());
    return out;
  }

  /// All passes over the world: the first test, and lists of the whole and of a part.
  void check_world(World& world, const CandidateTest& test, bool by_query) {
    std::mt19937 random(3);
    world.make_blocks(random);
    const auto low = upload(world.low), high = upload(world.high), error = upload(world.error);
    const auto sphere = upload(world.sphere), queries = upload(world.queries), query_error = upload(world.query_error);
    const auto block_low = upload(world.block_low), block_high = upload(world.block_high);
    const auto block_error = upload(world.block_error);
    const auto query_begin = upload(world.query_begin);
    cuda::CandidateSets sets;
    sets.groups = {low.data(), high.data(), error.data(), sphere.data(), world.groups(), kStride};
    sets.queries = {queries.data(), queries.data(), query_error.data(), nullptr, world.query_count(), kStride};
    sets.blocks = {block_low.data(), block_high.data(), block_error.data(), nullptr, world.blocks(), kStride};
    if (by_query) sets.blocks = sets.queries;
    sets.query_begin = query_begin.data();
    sets.by_query = by_query;
    const auto index =
        cuda::optix::make_optix_index(cuda::optix::context_of(0), sets, test, 3, memory_, context_.stream());
    const std::uint32_t blocks = sets.blocks.count;
    const CandidateThreshold threshold(test, 3);
    std::vector<std::vector<std::uint8_t>> right(blocks, std::vector<std::uint8_t>(world.groups(), 0));
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const std::uint32_t begin = by_query ? b : world.query_begin[b],
                          end = by_query ? b + 1 : world.query_begin[b + 1];
      for (std::uint32_t g = 0; g < world.groups(); ++g) {
        for (std::uint32_t q = begin; q < end; ++q) right[b][g] |= world.is_near(test, threshold, q, g) ? 1 : 0;
      }
    }
    cuda::DeviceArray<std::uint32_t> counts(memory_, blocks, context_.stream(), "test");
    index->count_by_block(counts.data(), memory_, context_.stream());
    const std::vector<std::uint32_t> found = to_host(counts.data(), blocks);
    for (std::uint32_t b = 0; b < blocks; ++b) {
      std::uint32_t expected = 0;
      for (const std::uint8_t near : right[b]) expected += near;
      ASSERT_EQ(found[b], expected) << "block " << b;
    }
    check_lists(*index, sets, {0, world.groups(), 0, blocks}, right);
    const std::uint32_t part = std::max(1U, blocks / 3);
    check_lists(*index, sets, {world.groups() / 4, world.groups(), part, std::min(blocks, 2 * part + 1)}, right);
    if (!by_query) check_lists(*index, sets, {0, world.groups(), part, blocks, true, part}, right);
  }

  void check_lists(const cuda::DeviceIndex& index, const cuda::CandidateSets& sets, const cuda::TraversalRange& range,
                   const std::vector<std::vector<std::uint8_t>>& right) {
    cuda::CandidatePass pass;
    std::uint64_t expected = 0;
    const auto listed = [&](std::uint32_t b, std::uint32_t g) {
      if (g < range.driver_begin || g >= range.driver_end || b < range.target_begin || b >= range.target_end)
        return false;
      return right[b][g] != 0 && !(range.once && g >= range.once_from && b > g);
    };
    for (std::uint32_t b = 0; b < right.size(); ++b) {
      for (std::uint32_t g = 0; g < right[b].size(); ++g) expected += listed(b, g) ? 1 : 0;
    }
    ASSERT_EQ(pass.count(index, sets, range, memory_, context_.stream()), expected);
    pass.fill(index, sets, memory_, context_.stream());
    const cuda::DeviceLists lists = pass.lists();
    ASSERT_EQ(lists.entries, expected);
    if (expected == 0) return;
    const auto groups = to_host(lists.group_ids, lists.lists);
    const auto begin = to_host(lists.begin, lists.lists + 1);
    auto ids = to_host(lists.block_ids, expected);
    std::uint64_t seen = 0;
    for (std::uint32_t l = 0; l < lists.lists; ++l) {
      const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin[l]);
      const auto last = ids.begin() + static_cast<std::ptrdiff_t>(begin[l + 1]);
      if (sets.by_query) std::sort(first, last);
      ASSERT_TRUE(std::adjacent_find(first, last, std::greater_equal<>()) == last) << "twice, or not ascending";
      for (auto b = first; b != last; ++b) ASSERT_TRUE(listed(*b, groups[l])) << *b << " near " << groups[l];
      seen += begin[l + 1] - begin[l];
    }
    ASSERT_EQ(seen, expected);
  }

  cuda::SearchContext context_{0};
  cuda::DeviceMemory memory_{0, 0};
};

TEST_F(Optix, QueriesOnFacesEdgesAndCorners) {
  for (const float scale : {1.0F, 0x1p-100F, 0x1p-149F, 0x1p60F, 0.1F}) {
    for (const float offset : {-32.0F, 0x1p20F}) {
      for (const bool spheres : {false, true}) {
        for (const float steps : {0.0F, 3.0F}) {
          CandidateTest test;
          test.radius = static_cast<double>(steps * scale);
          test.sphere_boxes = spheres;
          test.box_distance = !spheres;
          World world = telling_world(scale, offset, steps * scale, 5);
          ASSERT_GT(world.query_count(), 2000U);
          SCOPED_TRACE(testing::Message() << "scale " << scale << ", offset " << offset << ", spheres " << spheres
                                          << ", radius " << test.radius);
          World again = world;
          check_world(world, test, true);
          if (HasFatalFailure()) return;
          check_world(again, test, false);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(Optix, ErrorsWidenBoxesAndUnboundedRowsAreNearEverything) {
  CandidateTest test;
  test.radius = 1.0;
  std::mt19937 random(11);
  for (const bool unbounded : {false, true}) {
    World world = telling_world(1.0F, 0.0F, 1.0F, 6);
    for (float& error : world.error) error = static_cast<float>(random() % 4);
    for (float& error : world.query_error) error = static_cast<float>(random() % 4);
    if (unbounded) {
      for (const std::size_t g : {0, 7, 100}) world.error[g] = kInfinity;
      for (std::size_t q = 0; q < world.query_error.size(); q += 700) world.query_error[q] = kInfinity;
      // Where nothing bounds a query, its place may be anywhere.
      world.queries[0] = 3e38F;
    }
    World again = world;
    check_world(world, test, true);
    if (HasFatalFailure()) return;
    check_world(again, test, false);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Optix, FarOutliersHideNothing) {
  CandidateTest test;
  test.radius = 2.0;
  World world = telling_world(1.0F, -32.0F, 2.0F, 9);
  const float far[3] = {0x1p90F, -0x1p90F, 0x1p90F}, corner[3] = {0x1p91F, 0x1p80F, 0x1p91F};
  world.add_group(far, corner, 0.0F);
  world.add_query(far[0], far[1], far[2]);
  world.add_query(-0x1p99F, 0.0F, 0.0F);
  check_world(world, test, true);
}

TEST_F(Optix, NothingToFind) {
  World none;
  none.add_query(0.0F, 0.0F, 0.0F);
  check_world(none, CandidateTest{}, true);
  World no_queries;
  const float point[3] = {1.0F, 2.0F, 3.0F};
  no_queries.add_group(point, point, 0.0F);
  check_world(no_queries, CandidateTest{}, false);
}

}  // namespace
}  // namespace rthiss::test
