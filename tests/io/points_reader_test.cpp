#include "io/points_reader.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "io/file_makers.hpp"
#include "io/temporary_folder.hpp"

namespace rthiss::io {
namespace {

using testing::all_elements;
using ::testing::AllOf;
using testing::error_of;
using testing::fortran;
using ::testing::HasSubstr;
using testing::make_idx;
using testing::make_npy;
using testing::make_vecs;
using testing::native_bytes;
using testing::swapped;
using testing::TemporaryFolder;

// The elements of a 3 x 5 array of `item` bytes each, all bytes different.
std::string numbered(std::size_t count, std::size_t item) {
  std::string bytes;
  for (std::size_t i = 0; i < count * item; ++i) bytes += static_cast<char>(i * 7 + 1);
  return bytes;
}

struct NpyType {
  const char* code;
  DType dtype;
};

class NpyTypes : public ::testing::TestWithParam<NpyType> {};

INSTANTIATE_TEST_SUITE_P(All, NpyTypes,
                         ::testing::Values(NpyType{"b1", DType::kBool}, NpyType{"i1", DType::kInt8},
                                           NpyType{"u1", DType::kUInt8}, NpyType{"i2", DType::kInt16},
                                           NpyType{"u2", DType::kUInt16}, NpyType{"i4", DType::kInt32},
                                           NpyType{"u4", DType::kUInt32}, NpyType{"i8", DType::kInt64},
                                           NpyType{"u8", DType::kUInt64}, NpyType{"f2", DType::kFloat16},
                                           NpyType{"f4", DType::kFloat32}, NpyType{"f8", DType::kFloat64}),
                         [](const auto& parameter) { return std::string(parameter.param.code); });

TEST_P(NpyTypes, EveryVersionOrderAndByteOrder) {
  const TemporaryFolder folder;
  const std::size_t item = size_of(GetParam().dtype);
  const std::string elements = numbered(15, item);  // C order, this machine's byte order
  constexpr bool kLittle = std::endian::native == std::endian::little;
  for (const int version : {1, 2, 3}) {
    for (const bool fortran_order : {false, true}) {
      for (const char order : {'<', '>', '=', '|'}) {
        if ((order == '|') != (item == 1)) continue;
        const bool swap = item > 1 && order == (kLittle ? '>' : '<');
        std::string data = swap ? swapped(elements, item) : elements;
        if (fortran_order) data = fortran(data, 3, 5, item);
        const auto path = folder.put(
            "x.npy", make_npy(std::string(1, order) + GetParam().code, fortran_order, "(3, 5)", data, version));
        const PointsFile file = read_points(path);
        EXPECT_EQ(file.format(), "npy");
        EXPECT_TRUE(file.mapped());
        EXPECT_EQ(file.memory_bytes(), 0u);
        const PointsView& view = file.view();
        EXPECT_EQ(view.rows, 3u);
        EXPECT_EQ(view.columns, 5u);
        EXPECT_EQ(view.dtype, GetParam().dtype);
        EXPECT_EQ(view.byte_swapped, swap);
        EXPECT_EQ(all_elements(view), elements) << "version " << version << " fortran " << fortran_order << order;
      }
    }
  }
}

TEST(Npy, NoRows) {
  const TemporaryFolder folder;
  for (const bool fortran_order : {false, true}) {
    const PointsFile file = read_points(folder.put("x.npy", make_npy("<f4", fortran_order, "(0, 7)", "")));
    EXPECT_EQ(file.view().rows, 0u);
    EXPECT_EQ(file.view().columns, 7u);
  }
}

TEST(Npy, HeadersThatOtherProgramsWrite) {
  const TemporaryFolder folder;
  const std::string data(8, '\1');
  for (const char* header : {"{'shape':(2,1),'fortran_order':False,'descr':'<f4'}",
                             "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2L, 1L), }   \n",
                             " { 'descr' : 'f4' ,\n 'fortran_order' : False , 'shape' : ( 2 , 1 , ) , } \t\n"}) {
    const PointsFile file = read_points(folder.put("x.npy", testing::npy_with_header(header, data)));
    EXPECT_EQ(file.view().rows, 2u) << header;
    EXPECT_EQ(all_elements(file.view()), data);
  }
}

TEST(Npy, RefusedHeaders) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& header, const std::string& data = std::string(48, 'x')) {
    const auto path = folder.put("bad.npy", testing::npy_with_header(header, data));
    return error_of([&] { static_cast<void>(read_points(path)); });
  };
  const auto shape_error = [&](const std::string& shape) {
    return error("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }");
  };
  const auto type_error = [&](const std::string& descr) {
    return error("{'descr': " + descr + ", 'fortran_order': False, 'shape': (3, 4), }");
  };
  EXPECT_EQ(shape_error("(3, 4)"), "no error");
  EXPECT_THAT(shape_error("(12,)"), AllOf(HasSubstr("(12,)"), HasSubstr("reshape"), HasSubstr("bad.npy")));
  EXPECT_THAT(shape_error("()"), HasSubstr("() is not two-dimensional"));
  EXPECT_THAT(shape_error("(3, 2, 2)"), HasSubstr("(3, 2, 2) is not two-dimensional"));
  EXPECT_THAT(shape_error("(12)"), HasSubstr("','"));
  EXPECT_THAT(shape_error("(12, 0)"), HasSubstr("no columns"));
  EXPECT_THAT(shape_error("(0, 0)"), HasSubstr("no columns"));
  EXPECT_THAT(shape_error("(-3, -4)"), HasSubstr("negative"));
  EXPECT_THAT(shape_error("(3, 5)"), HasSubstr("needs more data than the 48 bytes"));
  EXPECT_THAT(shape_error("(3, 3)"), HasSubstr("12 bytes follow"));
  EXPECT_THAT(shape_error("(4294967296, 4294967296)"), HasSubstr("more than 2^32"));
  EXPECT_THAT(shape_error("(4611686018427387907, 4)"), HasSubstr("needs more data"));  // 48 bytes modulo 2^64
  EXPECT_THAT(shape_error("(1152921504606846979, 4)"), HasSubstr("needs more data"));
  EXPECT_THAT(shape_error("(18446744073709551616, 1)"), HasSubstr("2^64"));
  EXPECT_THAT(shape_error("(99999999999999999999999, 1)"), HasSubstr("2^64"));
  EXPECT_THAT(shape_error("(0, 18446744073709551615)"), HasSubstr("2^32"));
  EXPECT_THAT(shape_error("(3, 4"), HasSubstr("malformed"));
  EXPECT_THAT(shape_error("(3 4)"), HasSubstr("malformed"));
  EXPECT_THAT(shape_error("(3, True)"), HasSubstr("integer"));
  EXPECT_THAT(shape_error("(3, 4.0)"), HasSubstr("malformed"));
  EXPECT_THAT(shape_error("(3, 2+2)"), HasSubstr("malformed"));
  EXPECT_THAT(shape_error("(3, 0x4)"), HasSubstr("malformed"));
  EXPECT_THAT(shape_error("(3, 2*2)"), HasSubstr("malformed"));
  EXPECT_THAT(shape_error("__import__('os').system('true')"), HasSubstr("malformed"));
  EXPECT_THAT(shape_error("[3, 4]"), HasSubstr("malformed"));
  EXPECT_THAT(type_error("'<c8'"), AllOf(HasSubstr("complex64"), HasSubstr("float32")));
  EXPECT_THAT(type_error("'<c16'"), HasSubstr("complex128"));
  EXPECT_THAT(type_error("'<f16'"), HasSubstr("extended float"));
  EXPECT_THAT(type_error("'|O'"), HasSubstr("object"));
  EXPECT_THAT(type_error("'|S4'"), HasSubstr("bytes"));
  EXPECT_THAT(type_error("'<U4'"), HasSubstr("str"));
  EXPECT_THAT(type_error("'<M8[ns]'"), HasSubstr("datetime64"));
  EXPECT_THAT(type_error("'<m8[s]'"), HasSubstr("timedelta64"));
  EXPECT_THAT(type_error("'|V2'"), HasSubstr("void"));
  EXPECT_THAT(type_error("'|f4'"), HasSubstr("byte order"));
  EXPECT_THAT(type_error("''"), HasSubstr("no type"));
  EXPECT_THAT(type_error("'<'"), HasSubstr("no type"));
  EXPECT_THAT(type_error("'<f5'"), HasSubstr("extended float"));
  EXPECT_THAT(type_error("'\\x3cf4'"), HasSubstr("escape"));
  EXPECT_THAT(type_error("'<f4"), HasSubstr("is not accepted"));
  EXPECT_THAT(type_error("[('x', '<f4')]"), HasSubstr("structured"));
  EXPECT_THAT(type_error("f4"), HasSubstr("quoted string"));
  EXPECT_THAT(error("{'descr': '<f4', 'shape': (3, 4), }"), HasSubstr("'fortran_order' is missing"));
  EXPECT_THAT(error("{'fortran_order': False, 'shape': (3, 4), }"), HasSubstr("'descr' is missing"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False}"), HasSubstr("'shape' is missing"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': 1, 'shape': (3, 4), }"), HasSubstr("neither True nor False"));
  EXPECT_THAT(error("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"),
              HasSubstr("repeated"));
  EXPECT_THAT(error("{'a': '<f4'}"), HasSubstr("'a'"));
  EXPECT_THAT(error("{}"), HasSubstr("missing"));
  EXPECT_THAT(error(""), HasSubstr("'{'"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } + {}"), HasSubstr("goes on"));
}

TEST(Npy, RefusedFiles) {
  const TemporaryFolder folder;
  const std::string good = make_npy("<f4", false, "(1, 1)", "abcd");
  const auto error = [&](std::string bytes) {
    const auto path = folder.put("bad.npy", bytes);
    return error_of([&] { static_cast<void>(read_points(path)); });
  };
  EXPECT_EQ(error(good), "no error");
  EXPECT_THAT(error("NUMPY"), HasSubstr("not a .npy file"));
  EXPECT_THAT(error("1,2\n"), HasSubstr("not a .npy file"));
  std::string version = good;
  version[6] = 4;
  EXPECT_THAT(error(version), HasSubstr("version 4.0"));
  version[6] = 1;
  version[7] = 1;
  EXPECT_THAT(error(version), HasSubstr("version 1.1"));
  std::string length = make_npy("<f4", false, "(1, 1)", "abcd", 2);
  length[11] = '\xff';
  EXPECT_THAT(error(length), AllOf(HasSubstr("byte 8"), HasSubstr("claims")));
}

struct VecsType {
  const char* extension;
  DType dtype;
};

TEST(Vecs, AllTypes) {
  const TemporaryFolder folder;
  for (const auto& [extension, dtype] :
       {VecsType{"fvecs", DType::kFloat32}, VecsType{"bvecs", DType::kUInt8}, VecsType{"ivecs", DType::kInt32}}) {
    const std::size_t item = size_of(dtype);
    for (const std::size_t rows : {1u, 2u, 33u}) {
      for (const std::size_t columns : {1u, 3u, 64u, 65u}) {
        const std::string elements = numbered(rows * columns, item);
        const PointsFile file = read_points(
            folder.put(std::string("x.") + extension, make_vecs(native_bytes(elements, item), columns, item)));
        EXPECT_EQ(file.format(), extension);
        EXPECT_TRUE(file.mapped());
        EXPECT_EQ(file.view().rows, rows);
        EXPECT_EQ(file.view().columns, columns);
        EXPECT_EQ(file.view().dtype, dtype);
        EXPECT_EQ(all_elements(file.view()), elements);
      }
    }
  }
}

TEST(Vecs, RefusedFiles) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& bytes, const char* name = "bad.fvecs") {
    const auto path = folder.put(name, bytes);
    return error_of([&] { static_cast<void>(read_points(path)); });
  };
  const std::string good = make_vecs(numbered(100, 4), 5, 4);
  EXPECT_EQ(error(good), "no error");
  for (const std::size_t row : {1u, 10u, 19u}) {
    std::string bad = good;
    bad[row * 24 + 1] = 1;
    EXPECT_THAT(error(bad), AllOf(HasSubstr("row " + std::to_string(row) + " has dimension 261"),
                                  HasSubstr("byte " + std::to_string(row * 24) + ":")));
  }
  EXPECT_THAT(error(good, "bad.bvecs"), HasSubstr("row 1"));
  EXPECT_THAT(error(std::string(4, '\0')), HasSubstr("dimension 0"));
  EXPECT_THAT(error(std::string(8, '\xff')), HasSubstr("dimension -1"));
  EXPECT_THAT(error(std::string("\xff\xff\xff\x7f", 4)), HasSubstr("row 0 ends after 4 of 8589934592 bytes"));
  EXPECT_THAT(error("abc"), HasSubstr("byte 3"));
  for (std::size_t size = 1; size < good.size(); ++size) {
    if (size % 24 == 0) continue;
    EXPECT_NE(error(good.substr(0, size)), "no error") << size;
  }
}

struct IdxType {
  char code;
  DType dtype;
};

TEST(Idx, AllTypes) {
  const TemporaryFolder folder;
  for (const auto& [code, dtype] :
       {IdxType{8, DType::kUInt8}, IdxType{9, DType::kInt8}, IdxType{11, DType::kInt16}, IdxType{12, DType::kInt32},
        IdxType{13, DType::kFloat32}, IdxType{14, DType::kFloat64}}) {
    const std::size_t item = size_of(dtype);
    for (const auto& sizes : std::vector<std::vector<std::uint32_t>>{{3, 20}, {3, 4, 5}, {3, 2, 2, 5}, {3, 1, 20}}) {
      const std::string elements = numbered(60, item);
      const std::string bytes = make_idx(code, sizes, swapped(native_bytes(elements, item), item));
      for (const bool compressed : {false, true}) {
        const PointsFile file = read_points(folder.put(compressed ? "images-idx3-ubyte.gz" : "images-idx3-ubyte",
                                                       compressed ? testing::gzip(bytes) : bytes));
        EXPECT_EQ(file.format(), compressed ? "idx.gz" : "idx");
        EXPECT_EQ(file.mapped(), !compressed);
        EXPECT_EQ(file.memory_bytes() > 0, compressed);
        EXPECT_EQ(file.view().rows, 3u);
        EXPECT_EQ(file.view().columns, 20u);
        EXPECT_EQ(file.view().dtype, dtype);
        EXPECT_EQ(all_elements(file.view()), elements);
      }
    }
  }
}

TEST(Idx, NoRows) {
  const TemporaryFolder folder;
  const PointsFile file = read_points(folder.put("x", make_idx(8, {0, 28, 28}, "")));
  EXPECT_EQ(file.view().rows, 0u);
  EXPECT_EQ(file.view().columns, 784u);
}

TEST(Idx, RefusedFiles) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& bytes) {
    const auto path = folder.put("bad-idx3-ubyte", bytes);
    return error_of([&] { static_cast<void>(read_points(path, {.format = "idx"})); });
  };
  EXPECT_EQ(error(make_idx(8, {2, 3}, "abcdef")), "no error");
  EXPECT_THAT(error(make_idx(8, {6}, "abcdef")), HasSubstr("labels"));
  EXPECT_THAT(error(make_idx(8, {2, 4}, "abcdef")), HasSubstr("more data than the 6 bytes"));
  EXPECT_THAT(error(make_idx(8, {2, 2}, "abcdef")), AllOf(HasSubstr("byte 16"), HasSubstr("2 bytes follow")));
  EXPECT_THAT(error(make_idx(8, {2, 3, 0}, "")), AllOf(HasSubstr("dimension 2 is 0"), HasSubstr("byte 12")));
  EXPECT_THAT(error(make_idx(8, {0, 0}, "")), HasSubstr("dimension 1 is 0"));
  EXPECT_THAT(error(make_idx(10, {2, 3}, "abcdef")), HasSubstr("not an IDX file"));
  EXPECT_THAT(error(make_idx(8, {}, "abcdef")), HasSubstr("not an IDX file"));
  // 2^64 in all, and the same with no rows.
  EXPECT_THAT(error(make_idx(8, {65536, 65536, 65536, 65536}, "")), HasSubstr("2^32"));
  EXPECT_THAT(error(make_idx(8, {0, 65536, 65536}, "")), HasSubstr("2^32"));
  EXPECT_THAT(error(make_idx(14, {0xffffffffu, 0xffffffffu}, "")), HasSubstr("more data"));
  EXPECT_THAT(error(std::string("\0\0\x08\xff", 4)), HasSubstr("255 dimensions"));
}

TEST(Reader, FilesThatAreNone) {
  const TemporaryFolder folder;
  const auto error = [&](const std::filesystem::path& path, const ReadOptions& options = {}) {
    return error_of([&] { static_cast<void>(read_points(path, options)); });
  };
  EXPECT_THAT(error(folder / "missing.npy"), AllOf(HasSubstr("missing.npy"), HasSubstr("No such file")));
  EXPECT_THAT(error(folder.path()), HasSubstr("Is a directory"));
  EXPECT_THAT(error(""), HasSubstr("No such file"));
  EXPECT_THAT(error("/dev/null"), HasSubstr("neither a file nor a pipe"));
  for (const char* name : {"e.npy", "e.fvecs", "e.csv", "e.idx", "e"}) {
    EXPECT_THAT(error(folder.put(name, "")), AllOf(HasSubstr(name), HasSubstr("is empty")));
  }
  EXPECT_THAT(error(folder.put("a.npz", "PK\3\4abc")), HasSubstr("numpy.save"));
  EXPECT_THAT(error(folder.put("a.h5", "\x89HDF\r\n\x1a\n")), HasSubstr("HDF5"));
  EXPECT_THAT(error(folder.put("a.bin", std::string("ab\0c", 4))), HasSubstr("not known"));
  EXPECT_THAT(error(folder.put("a.csv", "1\n"), {.format = "xml"}), HasSubstr("'xml' is not known"));
  EXPECT_THROW(static_cast<void>(read_points(folder / "missing")), IoError);
  EXPECT_THROW(static_cast<void>(read_points(folder / "e")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(read_points(folder / "a.h5")), UnsupportedError);
}

TEST(Reader, ContentsBeatUnknownExtensions) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_points(folder.put("a.data", make_npy("<f4", false, "(1, 1)", "abcd"))).format(), "npy");
  EXPECT_EQ(read_points(folder.put("a.data", "1 2\n")).format(), "csv");
  EXPECT_EQ(read_points(folder.put("a.FVECS", make_vecs("abcd", 1, 4))).format(), "fvecs");
  EXPECT_EQ(read_points(folder.put("a.data", make_vecs("abcd", 1, 4)), {.format = "ivecs"}).format(), "ivecs");
}

TEST(Reader, Pipes) {
  const TemporaryFolder folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string elements = numbered(100000, 4);
  std::thread writer([&] { folder.put("pipe", make_npy("=f4", false, "(1000, 100)", elements)); });
  const PointsFile file = read_points(pipe);
  writer.join();
  EXPECT_FALSE(file.mapped());
  EXPECT_GE(file.memory_bytes(), elements.size());
  EXPECT_TRUE(all_elements(file.view()) == elements);
}

TEST(Reader, StandardInput) {
  const TemporaryFolder folder;
  const int saved = ::dup(STDIN_FILENO);
  const auto read_from = [&](const std::string& bytes) {
    const int file = ::open(folder.put("in", bytes).c_str(), O_RDONLY);
    ::dup2(file, STDIN_FILENO);
    ::close(file);
    return read_points("-");
  };
  const PointsFile text = read_from("1 2\n3 4\n");
  EXPECT_EQ(text.format(), "csv");
  EXPECT_EQ(text.view().rows, 2u);
  const PointsFile array = read_from(make_npy("=f4", false, "(1, 2)", "abcdefgh"));
  EXPECT_EQ(array.format(), "npy");
  EXPECT_FALSE(array.mapped());
  EXPECT_EQ(all_elements(array.view()), "abcdefgh");
  EXPECT_THAT(error_of([&] { static_cast<void>(read_from("")); }), HasSubstr("'-' is empty"));
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

TEST(Reader, MemoryLimit) {
  const TemporaryFolder folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // The writer may find its reader gone.
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  std::thread writer([&] { folder.put("pipe", std::string(70000, '1')); });
  EXPECT_THROW(static_cast<void>(read_points(pipe, {.memory_limit = 66000})), OutOfMemory);
  writer.join();
  std::signal(SIGPIPE, old_handler);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "1,2,3,4\n";
  EXPECT_THROW(static_cast<void>(read_points(folder.put("a.csv", text), {.memory_limit = 31000})), OutOfMemory);
  EXPECT_EQ(read_points(folder / "a.csv", {.memory_limit = 33000}).view().rows, 1000u);
  folder.put("a.csv.gz", testing::gzip(text));
  EXPECT_THROW(static_cast<void>(read_points(folder / "a.csv.gz", {.memory_limit = 7000})), OutOfMemory);
  EXPECT_THROW(static_cast<void>(read_points(folder / "a.csv.gz", {.memory_limit = 33000})), OutOfMemory);
  EXPECT_EQ(read_points(folder / "a.csv.gz", {.memory_limit = 50000}).view().rows, 1000u);
}

}  // namespace
}  // namespace rthiss::io
