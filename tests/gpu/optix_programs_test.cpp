#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rthiss/rthiss.hpp>
#include <string>
#include <vector>

#include "engine/cuda/optix/launch_parameters.hpp"
#include "engine/cuda/optix/programs_ptx.hpp"

// What can be said of the index 'optix' without a device. The layouts are checked where they are declared, abi.hpp.
namespace rthiss::test {
namespace {

TEST(OptixPrograms, AreEmbeddedAsOldPtx) {
  const std::string text(cuda::optix::programs_ptx());
  EXPECT_THAT(text, testing::HasSubstr("\n.version 7.0\n"));
  EXPECT_THAT(text, testing::HasSubstr("\n.target sm_75\n"));
  for (const char* entry : {cuda::optix::kRaygenName, cuda::optix::kIntersectionName}) {
    EXPECT_THAT(text, testing::HasSubstr(".visible .entry " + std::string(entry) + "()"));
  }
  EXPECT_THAT(text, testing::HasSubstr(".visible .const .align 8 .b8 " + std::string(cuda::optix::kParametersName) +
                                       "[" + std::to_string(sizeof(cuda::optix::LaunchParameters)) + "];"));
  EXPECT_EQ(text.find(".extern"), std::string::npos) << "something is missing in the programs";
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_EQ(cuda::optix::programs_ptx().data()[text.size()], '\0');
}

TEST(OptixPrograms, LaunchesStayBelowTheLimit) {
  using cuda::optix::rays_of_next_launch;
  EXPECT_EQ(rays_of_next_launch(1), 1U);
  EXPECT_EQ(rays_of_next_launch((std::uint64_t{1} << 30) - 1), (1U << 30) - 1);
  EXPECT_EQ(rays_of_next_launch((std::uint64_t{1} << 30) + 1), 1U << 30);
  EXPECT_EQ(rays_of_next_launch(3'000'000'000), 1U << 30);
}

TEST(OptixPrograms, AreRefusedWithAReasonWhereTheyCannotRun) {
  const std::vector<float> rows(12, 1.0F);
  SearchOptions options;
  options.engine = "cpu";
  options.index = "optix";
  EXPECT_THROW(Searcher(PointsView::row_major(rows.data(), 4, 3), options), UnsupportedError);
  for (const Availability& index : indexes()) {
    if (index.name != "optix") continue;
    EXPECT_FALSE(index.detail.empty());
    if (index.available) continue;
    options.engine = "auto";
    EXPECT_THROW(Searcher(PointsView::row_major(rows.data(), 4, 3), options), UnsupportedError);
  }
}

}  // namespace
}  // namespace rthiss::test
