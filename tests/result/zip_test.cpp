#include "io/result_zip.hpp"

#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <cstring>

#include "io/output_file.hpp"
#include "io/result_zip_reader.hpp"
#include "io/temporary_folder.hpp"

namespace rthiss::io {
namespace {

using testing::contents;
using testing::TemporaryFolder;

std::uint64_t number(const std::string& bytes, std::size_t offset, int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
  return value;
}

TEST(Zip, SmallMembersHaveNoZip64Fields) {
  const ZipEntry entry{"a.npy", 0xfffffffe, 0x12345678, 0xfffffffe};
  const std::string local = zip_local_header(entry), central = zip_central_header(entry);
  EXPECT_EQ(local.size(), 30u + 5u);
  EXPECT_EQ(number(local, 4, 2), 20u);
  EXPECT_EQ(number(local, kZipCrcField, 4), 0x12345678u);
  EXPECT_EQ(number(local, 18, 4), 0xfffffffeu);
  EXPECT_EQ(central.size(), 46u + 5u);
  EXPECT_EQ(number(central, 42, 4), 0xfffffffeu);
  const std::string end = zip_end_records(5, 0xfffffffe, 300);
  EXPECT_EQ(end.size(), 22u);
  EXPECT_EQ(number(end, 10, 2), 5u);
  EXPECT_EQ(number(end, 16, 4), 0xfffffffeu);
}

// Three billion pairs: int64 indices of 24 GB, then data of 24 GB.
TEST(Zip, LargeMembersAndOffsetsGoToZip64Fields) {
  const std::uint64_t size = 3'000'000'000u * std::uint64_t{8} + 128;
  const ZipEntry data{"data.npy", size, 7, size + 500};
  const std::string local = zip_local_header(data);
  ASSERT_EQ(local.size(), 30u + 8u + 20u);
  EXPECT_EQ(number(local, 4, 2), 45u);
  EXPECT_EQ(number(local, 18, 4), 0xffffffffu);
  EXPECT_EQ(number(local, 22, 4), 0xffffffffu);
  EXPECT_EQ(number(local, 28, 2), 20u);
  EXPECT_EQ(number(local, 38, 2), 1u);
  EXPECT_EQ(number(local, 40, 2), 16u);
  EXPECT_EQ(number(local, 42, 8), size);
  EXPECT_EQ(number(local, 50, 8), size);
  const std::string central = zip_central_header(data);
  ASSERT_EQ(central.size(), 46u + 8u + 28u);
  EXPECT_EQ(number(central, 42, 4), 0xffffffffu);
  EXPECT_EQ(number(central, 56, 2), 24u);
  EXPECT_EQ(number(central, 58, 8), size);
  EXPECT_EQ(number(central, 74, 8), size + 500);
  // A small member behind a large one: only its offset overflows.
  const std::string small = zip_central_header({"shape.npy", 144, 7, size});
  ASSERT_EQ(small.size(), 46u + 9u + 12u);
  EXPECT_EQ(number(small, 24, 4), 144u);
  EXPECT_EQ(number(small, 57, 2), 8u);
  EXPECT_EQ(number(small, 59, 8), size);

  const std::string end = zip_end_records(5, 2 * size, 400);
  ASSERT_EQ(end.size(), 56u + 20u + 22u);
  EXPECT_EQ(number(end, 4, 8), 44u);
  EXPECT_EQ(number(end, 32, 8), 5u);
  EXPECT_EQ(number(end, 40, 8), 400u);
  EXPECT_EQ(number(end, 48, 8), 2 * size);
  EXPECT_EQ(number(end, 64, 8), 2 * size + 400);
  EXPECT_EQ(number(end, 76 + 16, 4), 0xffffffffu);
}

TEST(Zip, ReaderTakesZip64RecordsWhereNumbersAreSmall) {
  // What Python's zipfile writes when it is told to force zip64: sizes in the extra record of the directory.
  const std::string data = "hello";
  std::string local = zip_local_header({"a", data.size(), 0x3610a686, 0});
  std::string central = zip_central_header({"a", std::uint64_t{1} << 40, 0x3610a686, 0});
  for (const std::size_t field : {51u, 59u}) {
    const std::uint64_t size = data.size();
    std::memcpy(central.data() + field, &size, sizeof(size));
  }
  std::string end = zip_end_records(1, std::uint64_t{1} << 40, central.size());
  const std::uint64_t offset = local.size() + data.size(), record = offset + central.size();
  std::memcpy(end.data() + 48, &offset, sizeof(offset));
  std::memcpy(end.data() + 64, &record, sizeof(record));
  const std::string archive = local + data + central + end;
  const auto members = read_zip(std::as_bytes(std::span(archive)), "archive");
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members[0].name, "a");
  EXPECT_EQ(std::memcmp(members[0].data.data(), data.data(), data.size()), 0);
}

TEST(Zip, WriterAndReaderAgreeAlsoOnRepeatedBlocks) {
  const TemporaryFolder folder;
  const std::string block = "0123456789";
  for (const std::uint64_t bytes : {0u, 3u, 10u, 25u, 1000u}) {
    OutputFile file(folder / "a.zip");
    ZipWriter zip(file);
    zip.begin_member("first", 4);
    zip.write("ab", 2);
    zip.write("cd", 2);
    zip.end_member();
    zip.begin_member("second", bytes + 1);
    zip.write("x", 1);
    zip.write_repeated(std::as_bytes(std::span(block)), bytes);
    zip.end_member();
    zip.finish();
    file.commit();
    const std::string archive = contents(folder / "a.zip");
    const auto members = read_zip(std::as_bytes(std::span(archive)), "a.zip");
    ASSERT_EQ(members.size(), 2u);
    std::string expected = "x";
    while (expected.size() < bytes + 1) expected += block[(expected.size() - 1) % block.size()];
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(members[1].data.data()), members[1].data.size()), expected);
    EXPECT_EQ(number(archive, members[0].data_offset - 35 + kZipCrcField, 4), 0xed82cd11u);  // CRC-32 of "abcd"
  }
}

TEST(Zip, RefusesCompressedMembers) {
  std::string central = zip_central_header({"a", 5, 0, 0});
  central[10] = 8;
  const std::string archive = central + zip_end_records(1, 0, central.size());
  EXPECT_THROW(static_cast<void>(read_zip(std::as_bytes(std::span(archive)), "archive")), InvalidArgument);
}

}  // namespace
}  // namespace rthiss::io
