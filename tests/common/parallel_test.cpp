#include "common/parallel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <limits>
#include <memory>
#include <rthiss/errors.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace rthiss {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 1000};
constexpr int kThreadCounts[] = {1, 2, 5};

TEST(ThreadPool, KnowsItsThreads) {
  EXPECT_EQ(ThreadPool(1).threads(), 1);
  EXPECT_EQ(ThreadPool(7).threads(), 7);
  EXPECT_GE(ThreadPool(0).threads(), 1);
  EXPECT_EQ(ThreadPool(0).threads(), ThreadPool(-1).threads());
}

TEST(ThreadPool, ForRangesVisitsEveryIndexOnce) {
  for (const int threads : kThreadCounts) {
    const ThreadPool pool(threads);
    for (const std::size_t size : kSizes) {
      for (const std::size_t grain : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
        constexpr std::size_t kFirst = 3;
        std::vector<int> visits(kFirst + size, 0);
        pool.for_ranges(kFirst, kFirst + size, grain, [&](std::size_t begin, std::size_t end) {
          ASSERT_LT(begin, end);
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        EXPECT_EQ(std::count(visits.begin(), visits.begin() + kFirst, 0), static_cast<long>(kFirst));
        EXPECT_EQ(std::count(visits.begin() + kFirst, visits.end(), 1), static_cast<long>(size))
            << "threads " << threads << ", size " << size << ", grain " << grain;
      }
    }
  }
}

TEST(ThreadPool, LoopsStopWhenInterrupted) {
  constexpr std::size_t kItems = 100000;
  for (const int threads : kThreadCounts) {
    const ThreadPool pool(threads);
    for (const int questions : {0, 1, 20}) {
      std::atomic<int> left{questions};
      std::atomic<std::size_t> done{0};
      const auto count = [&](std::size_t begin, std::size_t end) { done += end - begin; };
      {
        const ThreadPool::InterruptScope scope(pool, [&] { return left.fetch_sub(1) <= 0; });
        EXPECT_THROW(pool.for_ranges(0, kItems, 1, count), Cancelled);
        // A 256th of the loop between two questions, and what began before the answer.
        EXPECT_LE(done.exchange(0), kItems / 256 * 2 * static_cast<std::size_t>(questions + threads));
        left = questions;
        EXPECT_THROW(pool.for_tasks(kItems, [&](std::size_t task, int) { count(task, task + 1); }), Cancelled);
        EXPECT_LE(done.exchange(0), static_cast<std::size_t>(questions + threads));
      }
      pool.for_ranges(0, kItems, 1, count);
      EXPECT_EQ(done, kItems);
    }
  }
}

TEST(ThreadPool, ForRangesOfNothingCallsNothing) {
  const ThreadPool pool(2);
  pool.for_ranges(5, 5, 1, [](std::size_t, std::size_t) { FAIL(); });
  pool.for_ranges(6, 5, 1, [](std::size_t, std::size_t) { FAIL(); });
}

TEST(ThreadPool, ForTasksVisitsEveryTaskOnce) {
  for (const int threads : kThreadCounts) {
    const ThreadPool pool(threads);
    for (const std::size_t size : kSizes) {
      std::vector<int> visits(size, 0);
      pool.for_tasks(size, [&](std::size_t task, int) { ++visits[task]; });
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<long>(size));
    }
  }
}

TEST(ThreadPool, ForTasksOnOneThreadKeepsTheOrder) {
  std::vector<std::size_t> order;
  ThreadPool(1).for_tasks(5, [&](std::size_t task, int) { order.push_back(task); });
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(ThreadPool, NoWorkerRunsTwoTasksAtOnce) {
  constexpr int kThreads = 5;
  const ThreadPool pool(kThreads);
  std::atomic<bool> busy[kThreads] = {};
  std::atomic<int> clashes{0};
  std::atomic<int> out_of_range{0};
  pool.for_tasks(2000, [&](std::size_t, int worker) {
    if (worker < 0 || worker >= kThreads) {
      ++out_of_range;
      return;
    }
    if (busy[worker].exchange(true)) ++clashes;
    std::this_thread::yield();
    busy[worker] = false;
  });
  EXPECT_EQ(out_of_range, 0);
  EXPECT_EQ(clashes, 0);
}

TEST(ThreadPool, WritesOfTasksAreSeenByTheCallerAndByTheNextLoop) {
  const ThreadPool pool(4);
  std::vector<std::size_t> values(1000);
  pool.for_ranges(0, values.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] = i;
  });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] != i;
  EXPECT_EQ(wrong, 0u);
  pool.for_tasks(values.size(), [&](std::size_t task, int) { values[task] += values.size(); });
  for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] != i + values.size();
  EXPECT_EQ(wrong, 0u);
}

TEST(ThreadPool, ExceptionsReachTheCallerAndThePoolGoesOn) {
  for (const int threads : kThreadCounts) {
    const ThreadPool pool(threads);
    const auto fail_at_20 = [](std::size_t i) {
      if (i == 20) throw std::out_of_range("20");
    };
    EXPECT_THROW(pool.for_ranges(0, 100, 1,
                                 [&](std::size_t begin, std::size_t end) {
                                   for (std::size_t i = begin; i < end; ++i) fail_at_20(i);
                                 }),
                 std::out_of_range);
    EXPECT_THROW(pool.for_tasks(100, [&](std::size_t task, int) { fail_at_20(task); }), std::out_of_range);
    std::atomic<int> calls{0};
    pool.for_tasks(100, [&](std::size_t, int) { ++calls; });
    EXPECT_EQ(calls, 100);
  }
}

TEST(ThreadPool, ATaskThatThrowsStopsTheLoop) {
  const ThreadPool pool(1);
  std::size_t calls = 0;
  EXPECT_THROW(pool.for_tasks(1000,
                              [&](std::size_t task, int) {
                                ++calls;
                                if (task == 3) throw std::runtime_error("stop");
                              }),
               std::runtime_error);
  EXPECT_EQ(calls, 4u);
}

TEST(ThreadPool, LoopsNest) {
  for (const int threads : kThreadCounts) {
    const ThreadPool pool(threads);
    constexpr std::size_t kOuter = 33;
    constexpr std::size_t kInner = 65;
    std::vector<int> visits(kOuter * kInner, 0);
    pool.for_tasks(kOuter, [&](std::size_t outer, int) {
      pool.for_ranges(0, kInner, 4, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++visits[outer * kInner + i];
      });
    });
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<long>(visits.size()));
  }
}

TEST(ThreadPool, PoolsOfSeveralThreadsWorkSideBySide) {
  constexpr int kCallers = 4;
  std::vector<std::size_t> sums(kCallers, 0);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&sums, caller] {
      const ThreadPool pool(2);
      std::vector<std::size_t> values(500);
      pool.for_tasks(values.size(), [&](std::size_t task, int) { values[task] = task; });
      for (const std::size_t value : values) sums[caller] += value;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(sums, ::testing::Each(500u * 499u / 2));
}

// 1/3 rounds differently upward, and half of the smallest normal number is flushed to 0 under FTZ or DAZ.
bool rounds_to_nearest_and_keeps_subnormals() {
  volatile double one = 1.0;
  volatile double three = 3.0;
  volatile double smallest = std::numeric_limits<double>::min();
  return one / three == 0x1.5555555555555p-2 && -one / three == -0x1.5555555555555p-2 && smallest / 2 > 0.0;
}

TEST(ThreadPool, TasksComputeInTheStandardFloatingPointStateWhateverTheCallers) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  // A pool made under the caller's state: its threads may inherit it.
  const auto pool = std::make_unique<ThreadPool>(4);
  std::atomic<int> wrong{0};
  pool->for_tasks(200, [&](std::size_t, int) { wrong += rounds_to_nearest_and_keeps_subnormals() ? 0 : 1; });
  pool->for_ranges(0, 200, 1,
                   [&](std::size_t, std::size_t) { wrong += rounds_to_nearest_and_keeps_subnormals() ? 0 : 1; });
  const int mode = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(mode, FE_UPWARD);
}

}  // namespace
}  // namespace rthiss
