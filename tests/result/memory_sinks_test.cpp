#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <stdexcept>

#include "chunk_samples.hpp"
#include "common/parallel.hpp"
#include "result/callback_sink.hpp"
#include "result/checksum.hpp"
#include "result/counts_sink.hpp"
#include "result/csr_sink.hpp"

namespace rthiss {
namespace {

using testing::all_queries;
using testing::feed_shuffled;
using testing::feed_whole;
using testing::make_chunk;
using testing::random_rows;
using testing::Rows;
using testing::same;

class SinkShapes : public ::testing::TestWithParam<std::tuple<int, int, bool>> {
 protected:
  [[nodiscard]] Rows rows() const {
    const auto [queries, points, distances] = GetParam();
    return random_rows(static_cast<std::uint64_t>(queries), static_cast<std::uint64_t>(points), distances, 7);
  }
};

INSTANTIATE_TEST_SUITE_P(All, SinkShapes,
                         ::testing::Combine(::testing::Values(0, 1, 31, 32, 33, 63, 64, 65, 700),
                                            ::testing::Values(0, 1, 40), ::testing::Bool()));

TEST_P(SinkShapes, CsrHoldsTheRowsInTheCallersOrder) {
  const Rows expected = rows();
  CsrSink sink;
  feed_whole(sink, expected);
  EXPECT_TRUE(same(sink.take(), expected));
  const ThreadPool pool(2);
  CsrSink parallel_sink(&pool);
  for (const std::size_t chunks : {1u, 2u, 5u, 40u}) {
    feed_shuffled(sink, expected, chunks, 3);
    EXPECT_TRUE(same(sink.take(), expected)) << chunks;
    feed_shuffled(parallel_sink, expected, chunks, 4);
    EXPECT_TRUE(same(parallel_sink.take(), expected)) << chunks;
  }
}

TEST(MemorySinks, CostIsThePeakThatIsStated) {
  EXPECT_EQ(CsrSink().cost({1000, 5, false}, 7000).memory_bytes, 20 * 1000u + 8 * 7000u);
  EXPECT_EQ(CsrSink().cost({1000, 5, true}, 7000).memory_bytes, 20 * 1000u + 20 * 7000u);
  EXPECT_EQ(CountsSink().cost({1000, 5, true}, 7000).memory_bytes, 8 * 1000u);
  EXPECT_EQ(CsrSink().cost({1000, 5, true}, 7000).disk_bytes, 0u);
}

TEST_P(SinkShapes, CountsEqualTheRowLengths) {
  const Rows expected = rows();
  CountsSink sink;
  feed_shuffled(sink, expected, 4, 5);
  std::uint64_t pairs = 0;
  std::vector<std::uint64_t> counts;
  for (const auto& row : expected.ids) {
    counts.push_back(row.size());
    pairs += row.size();
  }
  EXPECT_THAT(sink.counts(), ::testing::ElementsAreArray(counts));
  EXPECT_EQ(sink.pairs(), pairs);

  CountsSink direct;
  EXPECT_TRUE(direct.counts_only());
  direct.begin(expected.shape());
  direct.consume_counts(counts);
  direct.finish();
  EXPECT_THAT(direct.counts(), ::testing::ElementsAreArray(counts));
  EXPECT_EQ(direct.pairs(), pairs);
}

TEST_P(SinkShapes, ChecksumDependsOnNeitherChunksNorOrder) {
  const Rows expected = rows();
  ChecksumSink whole;
  feed_whole(whole, expected);
  ChecksumSink parts;
  for (const unsigned seed : {1u, 2u, 3u}) {
    feed_shuffled(parts, expected, 6, seed);
    EXPECT_EQ(parts.checksum(), whole.checksum());
  }
  const ThreadPool pool(3);
  ChecksumSink parallel(&pool);
  feed_shuffled(parallel, expected, 2, 4);
  EXPECT_EQ(parallel.checksum(), whole.checksum());
  CsrSink lists;
  feed_whole(lists, expected);
  EXPECT_EQ(checksum_of(lists.take()), whole.checksum());
}

TEST(CsrSink, MovesOneOrderedChunkWithoutACopy) {
  const Rows rows = random_rows(65, 40, true, 1);
  NeighborChunk chunk = make_chunk(rows, all_queries(rows));
  const std::uint32_t* ids = chunk.neighbor_ids.data();
  const double* distances = chunk.distances.data();
  CsrSink sink;
  sink.begin(rows.shape());
  sink.consume(std::move(chunk));
  sink.finish();
  const NeighborLists lists = sink.take();
  EXPECT_EQ(lists.ids.data(), ids);
  EXPECT_EQ(lists.distances.data(), distances);
  EXPECT_TRUE(same(lists, rows));
}

TEST(CsrSink, RefusesMalformedChunks) {
  const Rows rows = random_rows(10, 40, true, 2);
  const auto broken = [&](auto&& damage) {
    CsrSink sink;
    sink.begin(rows.shape());
    NeighborChunk chunk = make_chunk(rows, all_queries(rows));
    damage(chunk);
    sink.consume(std::move(chunk));
    sink.finish();
  };
  EXPECT_NO_THROW(broken([](NeighborChunk&) {}));
  EXPECT_THROW(broken([](NeighborChunk& c) { c.query_ids[9] = 10; }), InvalidArgument);
  EXPECT_THROW(broken([](NeighborChunk& c) { c.query_ids[3] = 2; }), InvalidArgument);
  EXPECT_THROW(broken([](NeighborChunk& c) { c.row_begin[0] = 1; }), InvalidArgument);
  EXPECT_THROW(broken([](NeighborChunk& c) { c.row_begin[4] = c.row_begin[10] + 1; }), InvalidArgument);
  EXPECT_THROW(broken([](NeighborChunk& c) { c.row_begin = Array<std::uint64_t>(); }), InvalidArgument);
  EXPECT_THROW(broken([](NeighborChunk& c) { c.neighbor_ids = Array<std::uint32_t>(3); }), InvalidArgument);
  EXPECT_THROW(broken([](NeighborChunk& c) { c.distances = Array<double>(); }), InvalidArgument);
}

TEST(CsrSink, RefusesQueriesThatComeTwiceOrNever) {
  const Rows rows = random_rows(10, 40, false, 2);
  const std::vector<std::uint32_t> low{0, 1, 2, 3, 4, 5}, high{5, 6, 7, 8, 9}, last{7, 8, 9};
  CsrSink sink;
  sink.begin(rows.shape());
  sink.consume(make_chunk(rows, low));
  EXPECT_THROW(sink.consume(make_chunk(rows, high)), InvalidArgument);
  sink.begin(rows.shape());
  sink.consume(make_chunk(rows, low));
  sink.consume(make_chunk(rows, last));
  EXPECT_THROW(sink.finish(), InvalidArgument);
}

TEST(CountsSink, RefusesAWrongNumberOfCounts) {
  CountsSink sink;
  sink.begin({3, 5, false});
  EXPECT_THROW(sink.consume_counts(std::vector<std::uint64_t>{1, 2}), InvalidArgument);
}

TEST(PairChecksum, TellsNearlyEqualResultsApart) {
  const std::vector<std::uint32_t> one{1}, two{2}, both{1, 2};
  PairChecksum a, b, c, d;
  a.add_row(0, one);
  a.add_row(1, two);
  b.add_row(0, two);
  b.add_row(1, one);
  c.add_row(0, both);
  d.add_row(1, both);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(c, d);
  EXPECT_EQ(a.pairs, 2u);
  const std::vector<std::uint32_t> zero{0};
  PairChecksum origin;
  origin.add_row(0, zero);
  EXPECT_NE(origin.sum, 0u);
}

TEST(CallbackSink, HandsOnEveryChunkAndLetsExceptionsThrough) {
  const Rows rows = random_rows(64, 40, true, 9);
  CsrSink collected;
  collected.begin(rows.shape());
  CallbackSink sink([&](NeighborChunk&& chunk) { collected.consume(std::move(chunk)); });
  feed_shuffled(sink, rows, 7, 11);
  collected.finish();
  EXPECT_TRUE(same(collected.take(), rows));
  CallbackSink failing([](NeighborChunk&&) { throw std::runtime_error("full"); });
  EXPECT_THROW(feed_whole(failing, rows), std::runtime_error);
}

}  // namespace
}  // namespace rthiss
