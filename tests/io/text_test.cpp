#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "io/file_makers.hpp"
#include "io/formats.hpp"
#include "io/points_reader.hpp"
#include "io/temporary_folder.hpp"

namespace rthiss::io {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

TextPoints parse(std::string_view text) {
  // A copy of exactly this size, so that AddressSanitizer sees a read beyond it.
  const std::vector<char> bytes(text.begin(), text.end());
  return parse_text({bytes.data(), bytes.size()}, kNoLimit, "t.csv");
}

std::string error(std::string_view text) {
  return error_of([&] { static_cast<void>(parse(text)); });
}

using Rows = std::vector<std::vector<double>>;

Rows rows(std::string_view text) {
  const TextPoints points = parse(text);
  Rows result;
  for (std::uint64_t i = 0; i < points.rows; ++i) {
    result.emplace_back(points.values.data() + i * points.columns, points.values.data() + (i + 1) * points.columns);
  }
  return result;
}

const Rows kExpected = {{1, -2.5, 3e10}, {0.1, 0, 7}};

TEST(Text, DelimitersAndLineEnds) {
  for (const char* text :
       {"1,-2.5,3e10\n0.1,0,7\n", "1,-2.5,3e10\n0.1,0,7", "1,-2.5,3e10\r\n0.1,0,7\r\n", "1,-2.5,3e10\r\n0.1,0,7\r",
        "1;-2.5;3e10\n0.1;0;7\n", "1\t-2.5\t3e10\n0.1\t0\t7\n", "1 -2.5 3e10\n0.1 0 7\n",
        "  1   -2.5  3e10  \n 0.1\t \t0 7 \n", " 1 , -2.5 ,3e10 \n0.1 ,0,  7\n", " 1\t-2.5 \t 3e10\n0.1\t0\t7 \n",
        "+1,-2.5,+3E+10\n.1,-0,7.\n",
        "\xEF\xBB\xBF"
        "1,-2.5,3e10\n0.1,0,7\n",
        "1,-2.5,3e10\n0.1,0,7\n\n\n \r\n\n", "a,b,c\n1,-2.5,3e10\n0.1,0,7\n",
        "\"a, b\",\"b;\",c\r\n1,-2.5,3e10\r\n0.1,0,7\r\n", "a b c\n1 -2.5 3e10\n0.1 0 7\n",
        "# 1 2\n#\n1,-2.5,3e10\n0.1,0,7\n"}) {
    EXPECT_EQ(rows(text), kExpected) << text;
  }
}

TEST(Text, OneRowOrColumn) {
  EXPECT_EQ(rows("5"), (Rows{{5}}));
  EXPECT_EQ(rows("5\n6\n7"), (Rows{{5}, {6}, {7}}));
  EXPECT_EQ(rows("x\n6\n7"), (Rows{{6}, {7}}));
  EXPECT_EQ(rows("5,6"), (Rows{{5, 6}}));
}

TEST(Text, HeaderOnlyIsNoRows) {
  for (const char* text : {"a,b,c", "a,b,c\n", "a,b,c\r\n\r\n"}) {
    const TextPoints points = parse(text);
    EXPECT_EQ(points.rows, 0u);
    EXPECT_EQ(points.columns, 3u);
  }
}

TEST(Text, NumbersAreCorrectlyRounded) {
  // Halfway cases, the ends of the range, and more digits than any accumulator holds.
  const std::vector<std::string> numbers = {"0.1",
                                            "9007199254740993",
                                            "9007199254740992.99999999999999999999",
                                            "1.7976931348623157e308",
                                            "4.9e-324",
                                            "2.4703282292062328e-324",
                                            "2.2250738585072011e-308",
                                            "123456789012345678901234567890",
                                            "1e23",
                                            "8.5e-320",
                                            "1." + std::string(1000, '0') + "1",
                                            "0." + std::string(400, '0') + "1" + std::string(100, '7') + "e300",
                                            std::string(400, '9') + "e-200"};
  for (const std::string& number : numbers) {
    const double expected = std::strtod(number.c_str(), nullptr);
    EXPECT_EQ(rows(number), (Rows{{expected}})) << number;
    EXPECT_EQ(rows("-" + number), (Rows{{-expected}})) << number;
  }
}

TEST(Text, RoundingModeOfTheCallerChangesNothing) {
  const Rows expected = rows("0.1,0.3,1e23,2.5");
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const Rows found = rows("0.1,0.3,1e23,2.5");
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(found, expected);
  }
}

TEST(Text, TooSmallIsZeroAndTooLargeIsRefused) {
  for (const char* text : {"1e-400", "-1e-400", "2.4e-324", "1e-99999999999999999999", "0.0001e-5000"}) {
    EXPECT_EQ(rows(text), (Rows{{0.0}})) << text;
  }
  EXPECT_TRUE(std::signbit(rows("-1e-400")[0][0]));
  EXPECT_EQ(rows("0." + std::string(500, '0') + "1"), (Rows{{0.0}}));
  for (const char* text : {"1,1e400", "1,-1e400", "1,1.7976931348623159e308", "1,10e99999999999999999999"}) {
    EXPECT_THAT(error(text), AllOf(HasSubstr("line 1, field 2"), HasSubstr("range of float64"))) << text;
  }
  EXPECT_THAT(error("1," + std::string(400, '9')), HasSubstr("range of float64"));
}

TEST(Text, NonFiniteIsHandedOn) {
  const Rows found = rows("nan,inf,-inf\nNaN,Infinity,-INF\n");
  ASSERT_EQ(found.size(), 2u);
  for (const auto& row : found) {
    EXPECT_TRUE(std::isnan(row[0]));
    EXPECT_EQ(row[1], HUGE_VAL);
    EXPECT_EQ(row[2], -HUGE_VAL);
  }
}

TEST(Text, ErrorsNameLineFieldAndByte) {
  EXPECT_THAT(error("1,2\n3,x\n"),
              AllOf(HasSubstr("'t.csv', line 2, field 2 (byte 6)"), HasSubstr("'x' is not a number")));
  EXPECT_THAT(error("1,2\n3\n"), AllOf(HasSubstr("line 2 (byte 4)"), HasSubstr("1 fields where the first has 2")));
  EXPECT_THAT(error("1,2\n3,4,5\n"), HasSubstr("3 fields where the first has 2"));
  EXPECT_THAT(error("1 2\n3 4 5\n"), HasSubstr("3 fields where the first has 2"));
  EXPECT_THAT(error("1,2\n\n3,4\n"), AllOf(HasSubstr("line 2"), HasSubstr("empty")));
  EXPECT_THAT(error("1,2\n  \r\n3,4\n"), AllOf(HasSubstr("line 2"), HasSubstr("empty")));
  EXPECT_THAT(error("\n1,2\n"), AllOf(HasSubstr("line 1"), HasSubstr("empty")));
  EXPECT_THAT(error("1,2\n3,\n"), AllOf(HasSubstr("field 2"), HasSubstr("empty")));
  EXPECT_THAT(error("1,2\n,3\n"), AllOf(HasSubstr("field 1"), HasSubstr("empty")));
  EXPECT_THAT(error("1\t\t3\n"), AllOf(HasSubstr("field 2"), HasSubstr("empty")));
  EXPECT_THAT(error("1,2,\n3,4,\n"), AllOf(HasSubstr("line 1, field 3"), HasSubstr("empty")));
  EXPECT_THAT(error("id,1,2\n3,4,5\n"), AllOf(HasSubstr("line 1, field 1"), HasSubstr("'id'")));
  EXPECT_THAT(error("1,5;2,5\n3,5;4,5\n"), HasSubstr("'3,5' is not a number"));
  for (const char* bad : {"0x10", "1e", "1.2.3", "--1", "+-1", "1_0", "1 2", "abc", "1d5", "\"1\"", "1\r2"}) {
    EXPECT_THAT(error(std::string("1,2\n3,") + bad + "\n"), HasSubstr("line 2, field 2 (byte 6)")) << bad;
  }
  EXPECT_THAT(error("1,2\n3," + std::string(1000, 'y')), HasSubstr(std::string(40, 'y') + "...'"));
  EXPECT_THAT(error(std::string("1,2\n3,4\0\n", 9)), HasSubstr("'4?' is not a number"));
  for (const char* nothing : {"\n", "   ", "\r\n\r\n", "#", "# a b\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n"}) {
    EXPECT_THAT(error(nothing), HasSubstr("no numbers")) << nothing;
  }
}

TEST(Text, LongLines) {
  std::string text;
  std::vector<double> expected;
  for (int i = 0; i < 200000; ++i) {
    text += std::to_string(i) + (i == 199999 ? "" : ",");
    expected.push_back(i);
  }
  EXPECT_TRUE(rows(text + "\n" + text) == (Rows{expected, expected}));
  // Memory follows the size of the file, whatever the first line says.
  EXPECT_THAT(error(text + std::string(200000, '\n') + "1"), AllOf(HasSubstr("line 2"), HasSubstr("empty")));
}

TEST(Gzip, Members) {
  const testing::TemporaryFolder folder;
  const std::string two = testing::gzip("1,2\n3,") + testing::gzip("") + testing::gzip("4\n");
  for (const auto& [name, bytes] : {std::pair<const char*, std::string>{"a.csv.gz", two},
                                    {"a.txt.gz", testing::gzip("1 2\n3 4\n")},
                                    {"a.csv", testing::gzip("x;y\n1;2\n3;4\n")}}) {
    const PointsFile file = read_points(folder.put(name, bytes));
    EXPECT_EQ(file.format(), "csv.gz");
    EXPECT_FALSE(file.mapped());
    const auto* values = static_cast<const double*>(file.view().data);
    EXPECT_EQ(std::vector<double>(values, values + 4), (std::vector<double>{1, 2, 3, 4}));
  }
}

TEST(Gzip, RefusedFiles) {
  const testing::TemporaryFolder folder;
  const auto gz_error = [&](const std::string& bytes, const char* name = "bad.csv.gz") {
    const auto path = folder.put(name, bytes);
    return error_of([&] { static_cast<void>(read_points(path)); });
  };
  std::string text;
  for (int i = 0; i < 60; ++i) text += std::to_string(i * 7919) + "\n";
  const std::string good = testing::gzip(text);
  EXPECT_EQ(gz_error(good), "no error");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(gz_error(good.substr(0, size)), HasSubstr("bad.csv.gz")) << size;
  }
  EXPECT_THAT(gz_error(good.substr(0, good.size() / 2)), HasSubstr("cut off"));
  EXPECT_THAT(gz_error(good + good.substr(0, 5)), HasSubstr("cut off"));
  EXPECT_THAT(gz_error(good + "x"),
              AllOf(HasSubstr("byte " + std::to_string(good.size()) + ":"), HasSubstr("1 bytes")));
  EXPECT_THAT(gz_error(good + std::string(3, '\0')), HasSubstr("no gzip data"));
  std::string checksum = good;
  checksum[good.size() - 8] ^= 1;
  EXPECT_THAT(gz_error(checksum), HasSubstr("incorrect data check"));
  std::string length = good;
  length[good.size() - 1] ^= '\x40';
  EXPECT_THAT(gz_error(length), HasSubstr("incorrect length check"));
  EXPECT_THAT(gz_error("1,2\n"), HasSubstr("not a .gz file"));
  EXPECT_THAT(gz_error(testing::gzip("")), HasSubstr("empty"));
  EXPECT_THAT(gz_error(testing::gzip(testing::make_npy("<f4", false, "(1, 1)", "abcd")), "bad.npy.gz"),
              HasSubstr("gunzip"));
  EXPECT_THAT(gz_error(testing::gzip(good)), HasSubstr("bad.csv.gz"));
}

}  // namespace
}  // namespace rthiss::io
