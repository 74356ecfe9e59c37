#include "simd/targets.hpp"

#include <rthiss/errors.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simd/samples.hpp"
#include "simd/sort.hpp"

namespace rthiss::test {
namespace {

TEST(Targets, EachCanBeForced) {
  const std::vector<std::string> names = simd::supported_targets();
  ASSERT_FALSE(names.empty());
  const std::string best = simd::active_target();
  for_each_target([&] { EXPECT_THAT(names, testing::Contains(simd::active_target())); });
  EXPECT_EQ(simd::active_target(), best);
  for (const std::string& name : names) {
    simd::force_target(name);
    EXPECT_EQ(simd::active_target(), name);
  }
  simd::force_target("");
  try {
    simd::force_target("MMX");
    ADD_FAILURE();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("MMX"), testing::HasSubstr(names[0])));
  }
  simd::force_target("");
}

TEST(SortIds, AllSizes) {
  for_each_target([] {
    for (const std::size_t size : {0, 1, 2, 23, 24, 25, 63, 64, 65, 1000, 5000}) {
      std::mt19937 random(static_cast<unsigned>(size));
      std::vector<std::uint32_t> ids(size);
      for (std::uint32_t& id : ids) id = static_cast<std::uint32_t>(random());
      if (size > 1) ids[0] = ~std::uint32_t{0};
      std::vector<std::uint32_t> expected = ids;
      std::sort(expected.begin(), expected.end());
      simd::sort_ids(ids.data(), ids.size());
      EXPECT_EQ(ids, expected);
    }
  });
}

}  // namespace
}  // namespace rthiss::test
