#include <rthiss/array.hpp>

#include <cstdint>

#include <gtest/gtest.h>

namespace rthiss::test {
namespace {

TEST(Array, ResetKeepsMemoryThatIsLargeEnough) {
  Array<std::uint32_t> array;
  array.reset(0);
  EXPECT_EQ(array.data(), nullptr);
  array.reset(100);
  const std::uint32_t* const memory = array.data();
  for (const std::size_t size : {40U, 100U, 0U, 99U}) {
    array.reset(size);
    EXPECT_EQ(array.data(), memory);
    EXPECT_EQ(array.size(), size);
    EXPECT_EQ(array.span().size(), size);
  }
  array.reset(101);
  EXPECT_EQ(array.size(), 101U);
  array[100] = 7;
  EXPECT_EQ(array.back(), 7U);
}

TEST(Array, MovesItsRoomAlong) {
  Array<std::uint32_t> first(64, 3);
  const std::uint32_t* const memory = first.data();
  Array<std::uint32_t> second(std::move(first));
  second.reset(10);
  Array<std::uint32_t> third;
  third = std::move(second);
  third.reset(64);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(third[63], 3U);
  first.reset(8);  // NOLINT: a moved-from array is empty and can be filled again
  EXPECT_EQ(first.size(), 8U);
  EXPECT_NE(first.data(), memory);
}

TEST(Array, ResetToMoreThanThereCanBeLeavesItEmpty) {
  Array<std::uint64_t> array(5, 1);
  EXPECT_THROW(array.reset(~std::size_t{0} / 8), std::bad_alloc);
  EXPECT_TRUE(array.empty());
  array.reset(3);
  EXPECT_EQ(array.size(), 3U);
}

}  // namespace
}  // namespace rthiss::test
