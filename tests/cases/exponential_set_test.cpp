#include <rthiss/rthiss.hpp>

#include <gtest/gtest.h>

#include "common/parallel.hpp"
#include "generate/workloads.hpp"
#include "result/counts_sink.hpp"

namespace rthiss {
namespace {

// N = 100,000, d = 64, exponential values of rate 40: the number of pairs is known from exact arithmetic.
TEST(ExponentialSet, OrderedPairsWithSelf) {
  const ThreadPool pool(0);
  const generate::GeneratedPoints points = generate::generate_workload("expo100k64", {}, pool);
  SearchOptions options;
  options.include_self = true;
  Searcher searcher(points.view(), options);
  CountsSink sink;
  searcher.self_join(0.1754, sink);
  EXPECT_EQ(sink.pairs(), 6'526'336U);
  EXPECT_EQ(searcher.statistics().self_pairs, 100'000U);
}

}  // namespace
}  // namespace rthiss
