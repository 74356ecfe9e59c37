#include "io/points_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "io/file_makers.hpp"
#include "io/points_reader.hpp"
#include "io/temporary_folder.hpp"
#include "io/transform.hpp"

namespace rthiss::io {
namespace {

using testing::all_elements;
using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

constexpr DType kNumpyTypes[] = {DType::kBool,   DType::kInt8,    DType::kUInt8,   DType::kInt16,
                                 DType::kUInt16, DType::kInt32,   DType::kUInt32,  DType::kInt64,
                                 DType::kUInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64};

std::string random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(random());
  return bytes;
}

// The same elements as views of every layout; `storage` keeps what they point into.
std::vector<PointsView> layouts(const std::string& elements, std::uint64_t rows, std::uint64_t columns, DType dtype,
                                std::vector<std::string>& storage) {
  const std::size_t item = size_of(dtype);
  const auto signed_item = static_cast<std::int64_t>(item);
  const auto row_bytes = signed_item * static_cast<std::int64_t>(columns);
  storage.reserve(5);
  std::vector<PointsView> views;
  storage.push_back(elements);
  views.push_back(PointsView::row_major(storage[0].data(), rows, columns, dtype));
  storage.push_back(testing::swapped(elements, item));
  views.push_back(views[0]);
  views[1].data = storage[1].data();
  views[1].byte_swapped = item > 1;
  storage.push_back(testing::fortran(elements, rows, columns, item));
  views.push_back(views[0]);
  views[2].data = storage[2].data();
  views[2].row_stride = signed_item;
  views[2].column_stride = signed_item * static_cast<std::int64_t>(rows);
  // Unaligned, with a gap behind each row.
  std::string gaps = "#";
  for (std::uint64_t i = 0; i < rows; ++i) {
    gaps += elements.substr(i * columns * item, columns * item) + "##";
  }
  storage.push_back(gaps);
  views.push_back(views[0]);
  views[3].data = storage[3].data() + 1;
  views[3].row_stride = row_bytes + 2;
  std::string backwards;
  for (std::uint64_t i = rows; i-- > 0;) backwards += elements.substr(i * columns * item, columns * item);
  storage.push_back(backwards);
  views.push_back(views[0]);
  views[4].data = storage[4].data() + (rows == 0 ? 0 : (rows - 1) * columns * item);
  views[4].row_stride = -row_bytes;
  return views;
}

TEST(WritePoints, NpyKeepsEveryBitOfEveryLayout) {
  const TemporaryFolder folder;
  for (const DType dtype : kNumpyTypes) {
    for (const std::uint64_t rows : {0, 1, 5, 33}) {
      for (const std::uint64_t columns : {1, 3, 64}) {
        const std::string elements = random_bytes(rows * columns * size_of(dtype), 1);
        std::vector<std::string> storage;
        for (const PointsView& view : layouts(elements, rows, columns, dtype, storage)) {
          std::filesystem::remove(folder / "x.npy");  // replacing a file may mean writing to the disk at once: slow
          write_points(view, folder / "x.npy");
          const PointsFile file = read_points(folder / "x.npy");
          EXPECT_EQ(file.view().rows, rows);
          EXPECT_EQ(file.view().columns, columns);
          EXPECT_EQ(file.view().dtype, dtype);
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.view().data) % 64, 0u);
          ASSERT_TRUE(all_elements(file.view()) == elements);
        }
      }
    }
  }
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WritePoints, NpyInMoreThanOneBlock) {
  const TemporaryFolder folder;
  const std::string elements = random_bytes(3000 * 101 * 8, 2);
  std::vector<std::string> storage;
  for (const PointsView& view : layouts(elements, 3000, 101, DType::kFloat64, storage)) {
    write_points(view, folder / "x.npy");
    EXPECT_TRUE(all_elements(read_points(folder / "x.npy").view()) == elements);
  }
}

TEST(WritePoints, NpyHeaderIsWhatNumpyWrites) {
  const TemporaryFolder folder;
  const std::vector<float> values(6);
  write_points(PointsView::row_major(values.data(), 2, 3), folder / "x.npy");
  const std::string expected = std::string("\x93NUMPY\x01\0v\0", 10) +
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + std::string(58, ' ') +
                               "\n" + std::string(24, '\0');
  EXPECT_EQ(testing::contents(folder / "x.npy"), expected);
}

TEST(WritePoints, VecsKeepEveryBitOfEveryLayout) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, DType>> formats = {
      {"fvecs", DType::kFloat32}, {"bvecs", DType::kUInt8}, {"ivecs", DType::kInt32}};
  for (const auto& [format, dtype] : formats) {
    std::string elements = random_bytes(33 * 65 * size_of(dtype), 3);
    if (dtype == DType::kFloat32) {
      // Signalling NaNs may come back quiet; they are no points.
      for (std::size_t i = 3; i < elements.size(); i += 4) elements[i] = static_cast<char>(elements[i] & 0x3f);
      const float infinity = std::numeric_limits<float>::infinity();
      std::memcpy(elements.data() + 8, &infinity, sizeof infinity);
    }
    std::vector<std::string> storage;
    for (const PointsView& view : layouts(elements, 33, 65, dtype, storage)) {
      const auto path = folder / ("x." + format);
      write_points(view, path);
      EXPECT_TRUE(all_elements(read_points(path).view()) == elements) << format;
      EXPECT_EQ(std::filesystem::file_size(path), 33 * (4 + 65 * size_of(dtype)));
    }
  }
}

TEST(WritePoints, VecsTakeOtherTypesWhereEveryValueFits) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> integers = {0, 255, 16777216, -16777217};
  const auto write = [&](std::uint64_t columns, const char* name) {
    return error_of(
        [&] { write_points(PointsView::row_major(integers.data(), 1, columns, DType::kInt64), folder / name); });
  };
  EXPECT_EQ(write(2, "a.bvecs"), "no error");
  EXPECT_THAT(write(3, "b.bvecs"), AllOf(HasSubstr("row 0, column 2"), HasSubstr("16777216")));
  EXPECT_EQ(write(3, "a.fvecs"), "no error");
  EXPECT_THAT(write(4, "b.fvecs"), AllOf(HasSubstr("row 0, column 3"), HasSubstr(".fvecs")));
  EXPECT_EQ(write(4, "a.ivecs"), "no error");
  EXPECT_EQ(all_elements(read_points(folder / "a.bvecs").view()), std::string("\0\xff", 2));
  const PointsFile file = read_points(folder / "a.fvecs");
  EXPECT_EQ(static_cast<const float*>(file.view().data)[2], 16777216.0F);
  EXPECT_EQ(folder.entries(), 3u);

  const auto write_double = [&](double value, const char* name) {
    return error_of([&] { write_points(PointsView::row_major(&value, 1, 1), folder / name); });
  };
  for (const char* name : {"c.bvecs", "c.ivecs"}) {
    for (const double value : {0.5, -2147483649.0, 2147483648.0, 1e300, HUGE_VAL, std::nan("")}) {
      EXPECT_THAT(write_double(value, name), HasSubstr("row 0, column 0")) << value;
    }
    EXPECT_EQ(write_double(-0.0, name), "no error");
  }
  for (const double value : {0.1, 1e300, 1e-300, 3.4028235677973366e38}) {
    EXPECT_THAT(write_double(value, "c.fvecs"), HasSubstr("exactly")) << value;
  }
  for (const double value : {0.5, 0x1p-149, 3.4028234663852886e38, -HUGE_VAL}) {
    EXPECT_EQ(write_double(value, "c.fvecs"), "no error") << value;
  }
}

TEST(WritePoints, CsvReadsBackAsTheSameDoubles) {
  const TemporaryFolder folder;
  std::string bytes = random_bytes(1000 * 7 * 8, 4);
  std::vector<double> values(7000);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (double& value : values) {
    if (std::isnan(value)) value = 0.1;
  }
  const double special[] = {0.0, -0.0, 4.9e-324, -1.7976931348623157e308, 9007199254740993.0, 1.0 / 3, HUGE_VAL};
  std::copy(std::begin(special), std::end(special), values.begin());
  for (const char* name : {"x.csv", "x.txt"}) {
    write_points(PointsView::row_major(values.data(), 1000, 7), folder / name);
    const PointsFile file = read_points(folder / name);
    ASSERT_EQ(file.view().rows, 1000u);
    ASSERT_EQ(file.view().columns, 7u);
    EXPECT_EQ(std::memcmp(file.view().data, values.data(), bytes.size()), 0);
  }
}

TEST(WritePoints, CsvOfOtherTypes) {
  const TemporaryFolder folder;
  const auto text = [&](const PointsView& view) {
    write_points(view, folder / "x", "csv");
    return testing::contents(folder / "x");
  };
  const std::vector<float> floats = {0.1F, -1e30F};
  EXPECT_EQ(text(PointsView::row_major(floats.data(), 1, 2)), "0.10000000149011612,-1.0000000150474662e+30\n");
  const std::vector<std::uint8_t> bytes = {0, 255, 1, 2};
  EXPECT_EQ(text(PointsView::row_major(bytes.data(), 2, 2)), "0,255\n1,2\n");
  const std::vector<std::uint16_t> halves = {0x3c00, 0x0001, 0xfbff, 0x8000};
  EXPECT_EQ(text(PointsView::row_major(halves.data(), 1, 4, DType::kFloat16)), "1,5.960464477539063e-08,-65504,-0\n");
  EXPECT_EQ(text(PointsView::row_major(halves.data(), 1, 1, DType::kBFloat16)), "0.0078125\n");
  EXPECT_EQ(text(PointsView::row_major(bytes.data(), 0, 3)), "x0,x1,x2\n");
  EXPECT_EQ(read_points(folder / "x").view().columns, 3u);

  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(text(PointsView::row_major(&low, 1, 1, DType::kInt64)), "-9223372036854775808\n");
  for (const std::uint64_t value : {(1ULL << 53) + 1, ~0ULL, ~0ULL - 1}) {
    const PointsView view = PointsView::row_major(&value, 1, 1, DType::kUInt64);
    EXPECT_THAT(error_of([&] { text(view); }), AllOf(HasSubstr("row 0, column 0"), HasSubstr(std::to_string(value))));
  }
  const std::int64_t high = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(text(PointsView::row_major(&high, 1, 1, DType::kInt64)), InvalidArgument);
}

TEST(WritePoints, Refusals) {
  const TemporaryFolder folder;
  const std::vector<float> values(4);
  const PointsView view = PointsView::row_major(values.data(), 2, 2);
  const auto error = [&](const PointsView& points, const char* name, const char* format = "") {
    return error_of([&] { write_points(points, folder / name, format); });
  };
  for (const char* name : {"x", "x.xls", "x.csv.gz", "x.npz"}) {
    EXPECT_THAT(error(view, name), HasSubstr("none of npy"));
  }
  EXPECT_THAT(error(view, "x.npy", "xls"), HasSubstr("'xls'"));
  EXPECT_THAT(error(PointsView::row_major(values.data(), 2, 0), "x.npy"), HasSubstr("without columns"));
  EXPECT_THAT(error(PointsView::row_major(values.data(), 0, 2), "x.fvecs"), HasSubstr("no rows"));
  EXPECT_THAT(error(PointsView::row_major(values.data(), 2, 2, DType::kBFloat16), "x.npy"), HasSubstr("bfloat16"));
  EXPECT_THAT(error(view, "no/x.npy"), HasSubstr("No such file"));
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(WritePoints, ReplacesAFileThatIsBeingRead) {
  const TemporaryFolder folder;
  const std::string elements = random_bytes(4000, 5);
  write_points(PointsView::row_major(elements.data(), 100, 10, DType::kInt32), folder / "x.npy");
  const PointsFile file = read_points(folder / "x.npy");
  PointsView turned = file.view();
  turned.data = static_cast<const char*>(turned.data) + 99 * turned.row_stride;
  turned.row_stride = -turned.row_stride;
  write_points(turned, folder / "x.npy");
  EXPECT_EQ(all_elements(file.view()), elements);
  EXPECT_EQ(all_elements(read_points(folder / "x.npy").view()), all_elements(turned));
}

TEST(Transform, ParseColumns) {
  EXPECT_EQ(parse_columns("0", 1), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(parse_columns("0,3,5-9", 10), (std::vector<std::uint64_t>{0, 3, 5, 6, 7, 8, 9}));
  EXPECT_EQ(parse_columns("4-4,2", 10), (std::vector<std::uint64_t>{4, 2}));
  const auto error = [](const char* selection) {
    return error_of([&] { static_cast<void>(parse_columns(selection, 10)); });
  };
  for (const char* bad : {"", ",", "1,", ",1", "a", "1-", "-1", "1-2-3", " 1", "1 ", "+1", "0x1", "1.0", "1,,2"}) {
    EXPECT_THAT(error(bad), HasSubstr("neither a column number")) << bad;
  }
  EXPECT_THAT(error("1,10"), HasSubstr("no column 10"));
  EXPECT_THAT(error("0-18446744073709551615"), HasSubstr("no column 18446744073709551615"));
  EXPECT_THAT(error("99999999999999999999"), HasSubstr("no column 99999999999999999999"));
  EXPECT_THAT(error("3-2"), HasSubstr("backwards"));
  EXPECT_THAT(error("1,0-2"), HasSubstr("column 1 is named twice"));
}

TEST(Transform, SelectColumnsKeepsEveryBit) {
  for (const DType dtype : kNumpyTypes) {
    const std::size_t item = size_of(dtype);
    const std::string elements = random_bytes(5 * 7 * item, 6);
    std::vector<std::string> storage;
    for (const PointsView& view : layouts(elements, 5, 7, dtype, storage)) {
      const std::vector<std::uint64_t> columns = {6, 0, 3};
      const OwnedPoints selected = select_columns(view, columns);
      std::string expected;
      for (std::size_t i = 0; i < 5; ++i) {
        for (const std::uint64_t j : columns) expected += elements.substr((i * 7 + j) * item, item);
      }
      EXPECT_EQ(selected.view.columns, 3u);
      EXPECT_EQ(selected.view.dtype, dtype);
      EXPECT_FALSE(selected.view.byte_swapped);
      EXPECT_EQ(all_elements(selected.view), expected);
    }
  }
  const std::vector<std::uint64_t> beyond = {2};
  EXPECT_THROW(static_cast<void>(select_columns(PointsView::row_major(static_cast<float*>(nullptr), 0, 2), beyond)),
               InvalidArgument);
}

TEST(Transform, Normalise) {
  const double max = std::numeric_limits<double>::max();
  const std::vector<double> values = {1, 7, -max, 4.9e-324, 0.1,  //
                                      3, 7, max,  0,        0.3,  //
                                      2, 7, 0,    0,        0.2};
  const OwnedPoints result = normalise_columns(PointsView::row_major(values.data(), 3, 5));
  ASSERT_EQ(result.view.dtype, DType::kFloat64);
  const auto* found = reinterpret_cast<const double*>(result.data.data());
  const std::vector<double> expected = {0,   0, 0,   1, 0,  //
                                        1,   0, 1,   0, 1,  //
                                        0.5, 0, 0.5, 0, (0.2 - 0.1) / (0.3 - 0.1)};
  EXPECT_EQ(std::vector<double>(found, found + 15), expected);

  const std::vector<std::uint8_t> bytes = {0, 255, 51};
  const OwnedPoints scaled = normalise_columns(PointsView::row_major(bytes.data(), 3, 1));
  EXPECT_EQ(reinterpret_cast<const double*>(scaled.data.data())[2], 0.2);
  EXPECT_EQ(normalise_columns(PointsView::row_major(bytes.data(), 0, 3)).view.columns, 3u);

  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const std::vector<double> row = {0, 1, 2, bad};
    EXPECT_THAT(error_of([&] { static_cast<void>(normalise_columns(PointsView::row_major(row.data(), 2, 2))); }),
                HasSubstr("row 1, column 1"));
  }
}

}  // namespace
}  // namespace rthiss::io
