#include "io/result_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <rthiss/errors.hpp>

#include <cstring>
#include <filesystem>
#include <limits>

#include "chunk_samples.hpp"
#include "io/result_file_sink.hpp"
#include "io/result_reader.hpp"
#include "io/result_rows.hpp"
#include "io/temporary_folder.hpp"

namespace rthiss::io {
namespace {

using rthiss::testing::all_queries;
using rthiss::testing::feed_shuffled;
using rthiss::testing::feed_whole;
using rthiss::testing::make_chunk;
using rthiss::testing::random_rows;
using rthiss::testing::Rows;
using rthiss::testing::same;
using testing::contents;
using testing::TemporaryFolder;

struct Shape {
  std::uint64_t queries;
  std::uint64_t points;
  bool distances;
};

class FileSinks : public ::testing::TestWithParam<Shape> {
 protected:
  [[nodiscard]] Rows rows() const {
    return random_rows(GetParam().queries, GetParam().points, GetParam().distances, 12);
  }
  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(All, FileSinks,
                         ::testing::Values(Shape{0, 0, false}, Shape{0, 5, true}, Shape{5, 0, true}, Shape{1, 1, false},
                                           Shape{31, 40, true}, Shape{32, 40, false}, Shape{33, 40, true},
                                           Shape{64, 65, true}, Shape{700, 90, true}));

TEST_P(FileSinks, ReadBackWhatWasWrittenWhateverTheChunks) {
  const Rows expected = rows();
  for (const char* format : {"npz", "pairs", "pairs-csv"}) {
    const auto whole = folder_ / "whole", parts = folder_ / "parts";
    feed_whole(*make_file_sink(whole, format), expected);
    for (const std::size_t chunks : {2u, 9u}) {
      feed_shuffled(*make_file_sink(parts, format), expected, chunks, 5);
      EXPECT_EQ(contents(parts), contents(whole)) << format << ' ' << chunks;
    }
    const StoredResult stored = read_result(whole, expected.ids.size(), expected.points);
    Rows compared = expected;
    // Pairs hold no distances, and an empty matrix shows none.
    std::uint64_t pairs = 0;
    for (const auto& row : expected.ids) pairs += row.size();
    if (std::string(format) == "pairs" || (std::string(format) == "npz" && pairs == 0)) compared.has_distances = false;
    EXPECT_TRUE(same(stored.lists, compared)) << format;
    EXPECT_EQ(stored.format, result_format("", format));
  }
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_P(FileSinks, CountsReadBack) {
  const Rows expected = rows();
  const auto path = folder_ / "c.npy";
  feed_shuffled(*make_file_sink(path, "counts"), expected, 3, 5);
  const StoredResult stored = read_result(path, expected.ids.size(), expected.points);
  EXPECT_EQ(stored.format, ResultFormat::kCounts);
  ASSERT_EQ(stored.counts.size(), expected.ids.size());
  for (std::size_t i = 0; i < expected.ids.size(); ++i) EXPECT_EQ(stored.counts[i], expected.ids[i].size());
}

TEST_P(FileSinks, CostBoundsTheFile) {
  const Rows expected = rows();
  std::uint64_t pairs = 0;
  for (const auto& row : expected.ids) pairs += row.size();
  const std::uint64_t spooled = pairs * (expected.has_distances ? 12 : 4);
  for (const char* format : {"npz", "pairs", "pairs-csv", "counts"}) {
    const auto path = folder_ / "file";
    const std::unique_ptr<ResultSink> sink = make_file_sink(path, format);
    const ResultCost cost = sink->cost(expected.shape(), pairs);
    feed_shuffled(*sink, expected, 3, 5);
    const std::uint64_t bytes = std::filesystem::file_size(path) + (std::string(format) == "counts" ? 0 : spooled);
    EXPECT_GE(cost.disk_bytes, bytes) << format;
    EXPECT_LE(cost.disk_bytes, bytes + 4096 + 24 * pairs) << format;
    EXPECT_GT(cost.disk_free, 0u);
    EXPECT_LT(cost.disk_free, ~std::uint64_t{0});
    EXPECT_GE(cost.memory_bytes, 8 * expected.ids.size()) << format;
  }
}

TEST(ResultFiles, CostOfWhatNoDiskHolds) {
  const TemporaryFolder folder;
  const ResultShape shape{1u << 20, 1u << 20, false};
  const std::uint64_t pairs = std::uint64_t{1} << 50;
  const ResultCost cost = make_file_sink(folder / "huge.npz")->cost(shape, pairs);
  EXPECT_GE(cost.disk_bytes, pairs * 20);  // int64 ids, data, and the rows that wait
  EXPECT_LT(cost.disk_free, cost.disk_bytes);
  EXPECT_LT(cost.memory_bytes, std::uint64_t{64} << 20);  // whatever the pairs
  const ResultCost counts = make_file_sink(folder / "counts.npy", "counts")->cost(shape, pairs);
  EXPECT_LT(counts.disk_bytes, (std::uint64_t{8} << 20) + 4096);
}

TEST(ResultFiles, PipesTakeNoRoomOfTheirOwn) {
  const ResultCost cost = make_file_sink("/dev/null", "pairs")->cost({10, 10, false}, 50);
  EXPECT_EQ(cost.disk_bytes, 50 * 4u);
}

Rows tiny() {
  Rows rows{4, true, {{1, 3}, {}, {0}}, {{0.0, 0.1}, {}, {1e-300}}};
  return rows;
}

TEST(PairsCsv, IsTextWithShortestDoubles) {
  const TemporaryFolder folder;
  feed_whole(*make_file_sink(folder / "r.csv"), tiny());
  EXPECT_EQ(contents(folder / "r.csv"), "query,neighbor,distance\n0,1,0\n0,3,0.1\n2,0,1e-300\n");
  Rows plain = tiny();
  plain.has_distances = false;
  for (auto& row : plain.distances) row.clear();
  feed_whole(*make_file_sink(folder / "p.csv"), plain);
  EXPECT_EQ(contents(folder / "p.csv"), "query,neighbor\n0,1\n0,3\n2,0\n");
}

TEST(PairsCsv, KeepsExtremeDistances) {
  const double inf = std::numeric_limits<double>::infinity();
  Rows rows{4, true, {{0, 1, 2, 3}}, {{5e-324, 1.7976931348623157e308, 0.1 + 0.2, inf}}};
  const TemporaryFolder folder;
  feed_whole(*make_file_sink(folder / "r.csv"), rows);
  EXPECT_TRUE(same(read_result(folder / "r.csv", 1, 4).lists, rows));
}

TEST(Pairs, AreLittleEndianInt64InOrder) {
  const TemporaryFolder folder;
  feed_whole(*make_file_sink(folder / "r.npy"), tiny());
  const std::string bytes = contents(folder / "r.npy");
  ASSERT_EQ(bytes.size(), 128u + 48u);
  EXPECT_NE(bytes.find("{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), }"), std::string::npos);
  const std::int64_t expected[] = {0, 1, 0, 3, 2, 0};
  EXPECT_EQ(std::memcmp(bytes.data() + 128, expected, sizeof(expected)), 0);
}

TEST(Npz, KeepsExplicitZerosAndChoosesInt32) {
  const TemporaryFolder folder;
  feed_whole(*make_file_sink(folder / "r.npz"), tiny());
  const StoredResult stored = read_result(folder / "r.npz", 3, 4);
  EXPECT_EQ(stored.lists.pairs(), 3u);
  EXPECT_EQ(stored.lists.distances[0], 0.0);
  const std::string bytes = contents(folder / "r.npz");
  EXPECT_NE(bytes.find("'descr': '<i4', 'fortran_order': False, 'shape': (3,)"), std::string::npos);
  EXPECT_NE(bytes.find("'descr': '|S3', 'fortran_order': False, 'shape': ()"), std::string::npos);
}

TEST(Npz, UsesInt64FromTwoToTheThirtyFirst) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 31;
  EXPECT_TRUE(fits_int32({limit - 1, limit - 1, false}, limit - 1));
  EXPECT_FALSE(fits_int32({limit, 1, false}, 1));
  EXPECT_FALSE(fits_int32({1, limit, false}, 1));
  EXPECT_FALSE(fits_int32({1, 1, false}, limit));
  // The number of points decides even where there are few pairs.
  const TemporaryFolder folder;
  Rows rows{3'000'000'000, false, {{7, 2'999'999'999}, {}}, {{}, {}}};
  feed_shuffled(*make_file_sink(folder / "r.npz"), rows, 2, 1);
  EXPECT_NE(contents(folder / "r.npz").find("'descr': '<i8', 'fortran_order': False, 'shape': (2,)"),
            std::string::npos);
  EXPECT_TRUE(same(read_result(folder / "r.npz", 2, 3'000'000'000).lists, rows));
}

// More pairs than a window and than the block of ones, one row longer than a window.
TEST(FileSinksLarge, SpoolsWindowsOfManySizes) {
  Rows rows{1'500'000, true, {}, {}};
  rows.ids.resize(40);
  rows.distances.resize(40);
  for (std::uint32_t q = 0; q < 40; ++q) {
    const std::uint32_t length = q == 20 ? 1'200'000 : q % 3 == 0 ? 0 : 30'000 + q;
    for (std::uint32_t j = 0; j < length; ++j) {
      rows.ids[q].push_back(j + q);
      rows.distances[q].push_back(q + 1.0 / (j + 1));
    }
  }
  const TemporaryFolder folder;
  feed_whole(*make_file_sink(folder / "whole.npz"), rows);
  feed_shuffled(*make_file_sink(folder / "parts.npz"), rows, 6, 2);
  EXPECT_TRUE(contents(folder / "parts.npz") == contents(folder / "whole.npz"));
  EXPECT_TRUE(same(read_result(folder / "parts.npz", 40, 1'500'000).lists, rows));
  rows.has_distances = false;
  for (auto& row : rows.distances) row.clear();
  feed_shuffled(*make_file_sink(folder / "plain.npz"), rows, 6, 2);
  EXPECT_TRUE(same(read_result(folder / "plain.npz", 40, 1'500'000).lists, rows));
}

TEST(ResultRows, WindowsTileTheQueriesWithinTheirLimit) {
  Rows rows{400'000, false, {}, {}};
  rows.ids.resize(9);
  rows.distances.resize(9);
  for (const std::size_t q : {1u, 2u, 3u, 7u}) {
    rows.ids[q].resize(400'000);
    std::iota(rows.ids[q].begin(), rows.ids[q].end(), 0u);
  }
  ResultRows gathered("unused");
  gathered.begin(rows.shape());
  gathered.add(make_chunk(rows, all_queries(rows)));
  gathered.seal();
  std::uint64_t next = 0;
  gathered.for_windows([&](std::uint64_t first, std::uint64_t last) {
    EXPECT_EQ(first, next);
    ASSERT_GT(last, first);
    EXPECT_LE(gathered.row_begin()[last] - gathered.row_begin()[first], ResultRows::kWindowPairs);
    next = last;
  });
  EXPECT_EQ(next, 9u);
}

TEST(FileSinksEnd, LeaveNothingWithoutFinish) {
  const TemporaryFolder folder;
  const Rows rows = random_rows(64, 40, true, 3);
  const std::vector<std::uint32_t> some{1, 5, 6};
  for (const char* format : {"npz", "pairs", "pairs-csv", "counts"}) {
    {
      const auto sink = make_file_sink(folder / "r", format);
      sink->begin(rows.shape());
      sink->consume(make_chunk(rows, some));
    }
    EXPECT_EQ(folder.entries(), 0u) << format;
    {
      const auto sink = make_file_sink(folder / "r", format);
      sink->begin(rows.shape());
      sink->consume(make_chunk(rows, some));
      EXPECT_THROW(sink->finish(), InvalidArgument);
    }
    EXPECT_EQ(folder.entries(), 0u) << format;
  }
}

TEST(FileSinksEnd, AFullDiskNamesThePath) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  const Rows rows = random_rows(64, 40, false, 3);
  for (const char* format : {"pairs", "pairs-csv", "counts"}) {
    const auto sink = make_file_sink("/dev/full", format);
    try {
      feed_shuffled(*sink, rows, 3, 1);
      FAIL() << format;
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("/dev/full"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(static_cast<void>(make_file_sink("/dev/full", "npz")), InvalidArgument);
}

TEST(ResultFormat, ByNameOrExtension) {
  EXPECT_EQ(result_format("a.npz", ""), ResultFormat::kNpz);
  EXPECT_EQ(result_format("a.npy", ""), ResultFormat::kPairs);
  EXPECT_EQ(result_format("a.csv", ""), ResultFormat::kPairsCsv);
  EXPECT_EQ(result_format("a.npy", "counts"), ResultFormat::kCounts);
  EXPECT_EQ(result_format("a.csv", "npz"), ResultFormat::kNpz);
  for (const auto& [path, name] : {std::pair{"a.txt", ""}, {"a", ""}, {"a.npz", "csr"}, {"", ""}}) {
    try {
      static_cast<void>(result_format(path, name));
      FAIL() << path;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("pairs-csv (.csv)"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(static_cast<void>(make_file_sink("no/such/folder/r.npz")), IoError);
}

}  // namespace
}  // namespace rthiss::io
