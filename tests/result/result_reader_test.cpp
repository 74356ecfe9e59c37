#include "io/result_reader.hpp"

#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <array>
#include <cstring>
#include <functional>

#include "chunk_samples.hpp"
#include "io/npy_header.hpp"
#include "io/temporary_folder.hpp"

namespace rthiss::io {
namespace {

using rthiss::testing::feed_whole;
using rthiss::testing::Rows;
using testing::contents;
using testing::TemporaryFolder;

const Rows kRows{4, true, {{1, 3}, {}, {0}}, {{0.0, 0.1}, {}, {2.0}}};

class ResultReader : public ::testing::Test {
 protected:
  [[nodiscard]] std::string written(const char* format) const {
    feed_whole(*make_file_sink(folder_ / "r", format), kRows);
    return contents(folder_ / "r");
  }
  /// The message of the refusal, which must name the file.
  [[nodiscard]] std::string refusal(const std::string& bytes, std::uint64_t queries = 3,
                                    std::uint64_t points = 4) const {
    const auto path = folder_.put("bad", bytes);
    try {
      static_cast<void>(read_result(path, queries, points));
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(path.native()), std::string::npos) << error.what();
      return error.what();
    }
    return "accepted";
  }
  [[nodiscard]] static std::string pairs_file(std::initializer_list<std::int64_t> values) {
    std::string file = make_npy_header("<i8", std::array{std::uint64_t{values.size() / 2}, std::uint64_t{2}});
    for (const std::int64_t value : values) file.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return file;
  }
  TemporaryFolder folder_;
};

TEST_F(ResultReader, RefusesEveryTruncation) {
  for (const char* format : {"npz", "pairs", "counts"}) {
    const std::string whole = written(format);
    for (std::size_t length = 1; length < whole.size(); ++length) {
      ASSERT_NE(refusal(whole.substr(0, length)), "accepted") << format << ' ' << length;
    }
  }
  const std::string text = written("pairs-csv");
  for (std::size_t length = 1; length < text.size(); ++length) {
    // A text cut after a complete line is a shorter result.
    const bool complete = text[length - 1] == '\n';
    ASSERT_EQ(refusal(text.substr(0, length)) == "accepted", complete) << length;
  }
}

TEST_F(ResultReader, SurvivesEveryFlippedByte) {
  for (const char* format : {"npz", "pairs", "counts", "pairs-csv"}) {
    const std::string whole = written(format);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        static_cast<void>(refusal(damaged));
      }
    }
  }
}

TEST_F(ResultReader, NpzChecksumsFindDamagedValues) {
  const std::string whole = written("npz");
  // The last eight bytes before the directory are a distance.
  const std::size_t directory = whole.find("PK\x01\x02");
  std::string damaged = whole;
  damaged[directory - 1] ^= 1;
  EXPECT_NE(refusal(damaged).find("data.npy"), std::string::npos);
}

TEST_F(ResultReader, RefusesAnotherSearchsResult) {
  EXPECT_NE(refusal(written("npz"), 3, 5).find("3 x 4"), std::string::npos);
  EXPECT_NE(refusal(written("npz"), 4, 4), "accepted");
  EXPECT_NE(refusal(written("counts"), 4, 4).find("3 counts for 4"), std::string::npos);
  EXPECT_NE(refusal(written("pairs"), 2, 4).find("(2, 0)"), std::string::npos);
  EXPECT_NE(refusal(written("pairs-csv"), 3, 3).find("(0, 3)"), std::string::npos);
}

TEST_F(ResultReader, RefusesPairsOutOfOrderOrRange) {
  EXPECT_EQ(refusal(pairs_file({0, 1, 0, 3, 2, 0})), "accepted");
  EXPECT_NE(refusal(pairs_file({0, 1, 0, 1})).find("byte 144"), std::string::npos);
  EXPECT_NE(refusal(pairs_file({0, 3, 0, 1})), "accepted");
  EXPECT_NE(refusal(pairs_file({1, 0, 0, 1})), "accepted");
  EXPECT_NE(refusal(pairs_file({-1, 0})).find("(-1, 0)"), std::string::npos);
  EXPECT_NE(refusal(pairs_file({0, std::int64_t{1} << 32})), "accepted");
  EXPECT_NE(refusal(pairs_file({0, 1}) + "x"), "accepted");
}

TEST_F(ResultReader, RefusesOtherArraysAndTexts) {
  EXPECT_NE(refusal(make_npy_header("<f8", std::array{std::uint64_t{0}, std::uint64_t{2}})), "accepted");
  EXPECT_NE(refusal(make_npy_header("<i8", std::array{std::uint64_t{0}, std::uint64_t{3}})), "accepted");
  EXPECT_NE(refusal(make_npy_header("<i8", std::array{std::uint64_t{1} << 62, std::uint64_t{2}})), "accepted");
  EXPECT_NE(refusal(make_npy_header("<i8", {})), "accepted");
  EXPECT_NE(refusal("0,1\n"), "accepted");
  EXPECT_NE(refusal("query,neighbor\n0;1\n").find("byte 15"), std::string::npos);
  EXPECT_NE(refusal("query,neighbor\n0,1,0.5\n"), "accepted");
  EXPECT_NE(refusal("query,neighbor\n0,18446744073709551616\n"), "accepted");
  EXPECT_NE(refusal("query,neighbor,distance\n0,1\n"), "accepted");
  EXPECT_THROW(static_cast<void>(read_result(folder_ / "absent", 1, 1)), IoError);
}

}  // namespace
}  // namespace rthiss::io
