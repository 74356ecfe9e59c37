#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "common/parallel.hpp"
#include "engine/cuda/grouping.hpp"
#include "engine/cuda/hierarchy.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/search_context.hpp"
#include "grouping/group_points.hpp"
#include "support/projected_values.hpp"
#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

// The stages of the engine 'cuda' one by one against those of the host, for equality; and small searches.
namespace rthiss::test {
namespace {

struct Device {
  cuda::SearchContext context{0};
  cuda::DeviceMemory memory{0, 0};
  ThreadPool pool{2};

  [[nodiscard]] std::vector<std::uint32_t> to_host(const cuda::DeviceArray<std::uint32_t>& values) const {
    std::vector<std::uint32_t> out(values.size());
    cuda::copy_to_host(values.data(), values.size(), out.data(), context.stream());
    return out;
  }
};

void expect_same_groups(Device& device, const ProjectedPoints& points, const GroupingOptions& options) {
  const Grouping right = group_points(points, options, device.pool);
  const cuda::DeviceArray<float> values =
      cuda::copy_to_device(points.values.data(), points.values.size(), device.memory, device.context.stream(), "rows");
  const cuda::DeviceGrouping found = cuda::group_rows(
      values.data(), static_cast<std::uint32_t>(points.points), static_cast<std::uint32_t>(points.stride),
      static_cast<std::uint32_t>(points.width), options, device.memory, device.context.stream());
  EXPECT_EQ(found.height, right.height);
  EXPECT_EQ(found.begin_host, std::vector<std::uint32_t>(right.group_begin.begin(), right.group_begin.end()));
  EXPECT_EQ(device.to_host(found.original_id),
            std::vector<std::uint32_t>(right.original_id.begin(), right.original_id.end()));
}

TEST(GpuStages, GroupsAreThoseOfTheHost) {
  Device device;
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 1000, 5000}) {
    for (const std::size_t width : {1, 3, 16}) {
      const ProjectedPoints points = integer_values(n, width, 9.0F, static_cast<unsigned>(n + width));
      for (const GroupingMethod method :
           {GroupingMethod::kKdTree, GroupingMethod::kMorton, GroupingMethod::kHilbert, GroupingMethod::kBall}) {
        for (const int height : {-1, 0, 3, 6}) {
          GroupingOptions options;
          options.method = method;
          options.height = height;
          options.split = height == 3 ? SplitRule::kCycle : SplitRule::kWidest;
          options.order = height == 6 || n == 1000 ? GroupOrder::kMorton : GroupOrder::kTree;
          SCOPED_TRACE(testing::Message() << n << " rows of " << width << ", method " << static_cast<int>(method)
                                          << ", height " << height);
          expect_same_groups(device, points, options);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(GpuStages, TraversalFindsWhatTheTestFinds) {
  Device device;
  std::mt19937 random(5);
  for (const std::uint32_t count : {1U, 31U, 32U, 33U, 1000U, 1025U, 40000U}) {
    for (const std::uint32_t components : {0U, 1U, 3U, 5U}) {
      constexpr std::uint32_t stride = 8;
      std::vector<float> low(std::size_t{count} * stride), high(low.size()), error(count);
      for (std::size_t i = 0; i < low.size(); ++i) {
        low[i] = static_cast<float>(random() % 1000);
        high[i] = low[i] + static_cast<float>(random() % 20);
      }
      for (float& value : error) value = static_cast<float>(random() % 3);
      const auto upload = [&](const std::vector<float>& values) {
        return cuda::copy_to_device(values.data(), values.size(), device.memory, device.context.stream(), "boxes");
      };
      const auto low_there = upload(low), high_there = upload(high), error_there = upload(error);
      const cuda::BoxSet boxes{low_there.data(), high_there.data(), error_there.data(), nullptr, count, stride};
      CandidateTest test;
      test.radius = 60.0;
      test.components = components;
      const CandidateThreshold threshold(test, components);
      const cuda::Hierarchy tree =
          cuda::build_hierarchy(boxes, test, components, device.memory, device.context.stream());
      const std::uint32_t drivers = std::min(count, 50U);
      cuda::DeviceArray<std::uint32_t> counts(device.memory, drivers, device.context.stream(), "counts");
      const cuda::TraversalRange range{0, drivers, count / 5, count, true, 10};
      cuda::count_near(boxes, tree, threshold, range, counts.data(), nullptr, device.context.stream());
      const std::vector<std::uint32_t> found = device.to_host(counts);
      for (std::uint32_t d = 0; d < drivers; ++d) {
        std::uint32_t right = 0;
        for (std::uint32_t t = range.target_begin; t < (d >= 10 ? std::min(count, d + 1) : count); ++t) {
          float sum = 0.0F;
          for (std::uint32_t c = 0; c < components; ++c) {
            const float gap = std::max(
                0.0F, std::max(low[d * stride + c] - high[t * stride + c], low[t * stride + c] - high[d * stride + c]));
            sum += gap * gap;
          }
          right += sum <= threshold(threshold.reach(error[d]), error[t]) ? 1 : 0;
        }
        ASSERT_EQ(found[d], right) << count << " boxes, " << components << " components, driver " << d;
      }
    }
  }
}

TEST(GpuStages, SmallSearches) {
  for (const std::size_t columns : {2, 20}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      const TypedPoints points = typed_points(clustered_rows(300, columns), columns, dtype);
      const PairTable table = euclidean_table(points.values, points.values);
      const std::vector<double> distances = table.distinct();
      for (const char* preset : {"auto", "paper"}) {
        for (const Output output : {Output::kLists, Output::kCounts}) {
          Way way;
          way.options.preset = preset;
          way.output = output;
          check_search(points.view, nullptr, distances[distances.size() / 10], way, table);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

/// The paper's ablations give the same pairs.
TEST(GpuStages, Ablations) {
  const TypedPoints points = typed_points(clustered_rows(500, 20), 20, DType::kFloat32);
  const PairTable table = euclidean_table(points.values, points.values);
  const std::vector<double> distances = table.distinct();
  const double radius = distances[distances.size() / 20];
  const auto check = [&](const auto& change) {
    Way way;
    way.options.preset = "paper";
    change(way.options);
    check_search(points.view, nullptr, radius, way, table);
  };
  for (const SharedMemory memory :
       {SharedMemory::kNone, SharedMemory::kQuery, SharedMemory::kPrimitive, SharedMemory::kBoth}) {
    for (const ResultMask mask : {ResultMask::kCompressed, ResultMask::kPlain, ResultMask::kPairs}) {
      check([&](SearchOptions& options) {
        options.shared_memory = memory;
        options.mask = mask;
      });
    }
  }
  for (const GroupingMethod method : {GroupingMethod::kMorton, GroupingMethod::kHilbert, GroupingMethod::kBall}) {
    check([&](SearchOptions& options) { options.grouping = method; });
  }
  check([](SearchOptions& options) { options.primitive = Primitive::kPoint; });
  check([](SearchOptions& options) { options.kd_tree_height = 3; });
}

TEST(GpuLimits, LittleDeviceMemoryHalvesBatchesOrSaysWhatIsMissing) {
  const TypedPoints points = typed_points(uniform_rows(3000, 5, 0, 1), 5, DType::kFloat32);
  SearchOptions options = default_options();
  const std::uint64_t pairs = Searcher(points.view, options).self_join(0.5).pairs();
  int refused = 0, worked = 0;
  for (std::uint64_t limit = 1 << 14; limit <= std::uint64_t{1} << 30; limit *= 4) {
    options.device_memory_limit = limit;
    Searcher searcher(points.view, options);
    try {
      EXPECT_EQ(searcher.self_join(0.5).pairs(), pairs);
      ++worked;
      EXPECT_LE(searcher.statistics().peak_bytes_device, limit);
    } catch (const OutOfMemory& error) {
      ++refused;
      EXPECT_EQ(worked, 0) << "a larger limit was refused";
      EXPECT_THAT(error.what(), testing::HasSubstr("device"));
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(worked, 1);
}

}  // namespace
}  // namespace rthiss::test
