#include "common/floating_point_scope.hpp"

#include <atomic>
#include <cfenv>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "common/parallel.hpp"
#include "distance/pair_decider.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rthiss {
namespace {

// Values that the compiler cannot compute beforehand.
volatile double smallest_normal = 0x1p-1022;
volatile double smallest_subnormal = 0x1p-1074;
volatile double one = 1.0;
volatile double three = 3.0;

// Not inlined: no arithmetic may move across a change of the control register.
[[gnu::noinline]] bool arithmetic_is_ieee() {
  const bool keeps_subnormal_results = smallest_normal / 2.0 != 0.0;
  const bool reads_subnormals = smallest_subnormal * 0x1p1000 != 0.0;
  const bool nearest =
      one / three == 0x1.5555555555555p-2 && one + 0x1p-53 == 1.0 && -one - 0x1p-53 == -1.0 && one + 0x1.8p-53 > 1.0;
  return keeps_subnormal_results && reads_subnormals && nearest;
}

TEST(FloatingPointScope, RoundingModes) {
  for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const bool before = arithmetic_is_ieee();
    bool inside = false;
    {
      const FloatingPointScope scope;
      inside = arithmetic_is_ieee();
    }
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(before, mode == FE_TONEAREST);
    EXPECT_TRUE(inside);
    EXPECT_EQ(after, mode);
  }
}

#if defined(__x86_64__)

constexpr unsigned kFlushToZero = 0x8000;
constexpr unsigned kDenormalsAreZero = 0x0040;

TEST(FloatingPointScope, FlushToZeroAndDenormalsAreZero) {
  const unsigned usual = _mm_getcsr();
  for (const unsigned set : {kFlushToZero, kDenormalsAreZero, kFlushToZero | kDenormalsAreZero}) {
    _mm_setcsr(usual | set);
    const bool before = arithmetic_is_ieee();
    bool inside = false;
    {
      const FloatingPointScope scope;
      inside = arithmetic_is_ieee();
    }
    const unsigned after = _mm_getcsr();
    _mm_setcsr(usual);
    EXPECT_FALSE(before);
    EXPECT_TRUE(inside);
    EXPECT_EQ(after & (kFlushToZero | kDenormalsAreZero), set);
  }
}

TEST(FloatingPointScope, UnmaskedExceptionsDoNotTrapInside) {
  const unsigned usual = _mm_getcsr();
  _mm_setcsr((usual & ~0x3FU) & ~(_MM_MASK_DIV_ZERO | _MM_MASK_UNDERFLOW));
  volatile double zero = 0.0;
  volatile double result = 0.0;
  {
    const FloatingPointScope scope;
    result = one / zero;
    result = result + smallest_normal * smallest_normal;
  }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(usual);
  EXPECT_TRUE(std::isinf(result));
  EXPECT_EQ(after & (_MM_MASK_DIV_ZERO | _MM_MASK_UNDERFLOW), 0U);
}

// Worker threads inherit nothing from the caller, and the caller's thread works under a scope as well.
TEST(FloatingPointScope, TasksOfThePool) {
  const unsigned usual = _mm_getcsr();
  _mm_setcsr(usual | kFlushToZero | kDenormalsAreZero | _MM_ROUND_UP);
  std::atomic<int> wrong{0};
  const ThreadPool pool(2);
  pool.for_ranges(0, 64, 1, [&](std::size_t, std::size_t) { wrong += arithmetic_is_ieee() ? 0 : 1; });
  pool.for_tasks(64, [&](std::size_t, int) { wrong += arithmetic_is_ieee() ? 0 : 1; });
  const unsigned after = _mm_getcsr();
  _mm_setcsr(usual);
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(after & 0xFFC0U, (usual | kFlushToZero | kDenormalsAreZero | _MM_ROUND_UP) & 0xFFC0U);
}

TEST(FloatingPointScope, DecisionsUnderIt) {
  const double x[] = {0x1p-1074, 0.0};
  const double y[] = {0.0, 0.0};
  const unsigned usual = _mm_getcsr();
  bool within_zero = true;
  bool within_smallest = false;
  double value = 0.0;
  _mm_setcsr(usual | kFlushToZero | kDenormalsAreZero | _MM_ROUND_DOWN);
  {
    const FloatingPointScope scope;
    TierCounts counts;
    within_zero = make_pair_decider({}, 0.0, 2, {})->within(x, y, counts);
    within_smallest = make_pair_decider({}, 0x1p-1074, 2, {})->within(x, y, counts);
    value = make_pair_decider({}, 1.0, 2, {})->value(x, y);
  }
  _mm_setcsr(usual);
  EXPECT_FALSE(within_zero);
  EXPECT_TRUE(within_smallest);
  EXPECT_EQ(value, 0x1p-1074);
}

#endif  // __x86_64__

}  // namespace
}  // namespace rthiss
