#include "io/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rthiss/errors.hpp>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "io/temporary_folder.hpp"

namespace rthiss::io {
namespace {

using ::testing::AllOf;
using testing::contents;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::string error_of(const auto& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  {
    OutputFile file(folder / "a");
    file.write("hello");
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
    EXPECT_EQ(folder.entries(), 1u);
    file.commit();
    EXPECT_EQ(contents(folder / "a"), "hello");
  }
  EXPECT_EQ(contents(folder / "a"), "hello");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, RemovesTheTemporaryAndKeepsTheOldFileWithoutCommit) {
  const TemporaryFolder folder;
  folder.put("a", "old");
  {
    OutputFile file(folder / "a");
    file.write(std::string(3 * OutputFile::kBufferBytes, 'x'));
  }
  EXPECT_EQ(contents(folder / "a"), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, PiecesAroundTheBufferSize) {
  const TemporaryFolder folder;
  constexpr std::size_t kBuffer = OutputFile::kBufferBytes;
  std::string expected;
  OutputFile file(folder / "a");
  char letter = 'a';
  for (const std::size_t size : {std::size_t{1}, kBuffer - 1, kBuffer, kBuffer + 1, std::size_t{0}, kBuffer - 1,
                                 std::size_t{2}, 2 * kBuffer, std::size_t{5}}) {
    const std::string piece(size, letter++);
    file.write(piece);
    expected += piece;
    ASSERT_EQ(file.position(), expected.size());
  }
  file.commit();
  EXPECT_TRUE(contents(folder / "a") == expected);
}

TEST(OutputFile, SeekAndWriteAt) {
  const TemporaryFolder folder;
  OutputFile file(folder / "a");
  file.write("0123456789");
  file.seek(2);
  file.write("ab");
  EXPECT_EQ(file.position(), 4u);
  file.write_at(12, "yz", 2);
  EXPECT_EQ(file.position(), 4u);
  file.write("c");
  file.commit();
  EXPECT_EQ(contents(folder / "a"), std::string("01abc56789\0\0yz", 14));
}

TEST(OutputFile, WriteAtFromManyThreads) {
  const TemporaryFolder folder;
  OutputFile file(folder / "a");
  constexpr std::size_t kPiece = 1000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&file, t] {
      for (int i = t; i < 64; i += 8) {
        const std::string piece(kPiece, static_cast<char>('0' + i));
        file.write_at(static_cast<std::uint64_t>(i) * kPiece, piece.data(), piece.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  file.commit();
  std::string expected;
  for (int i = 0; i < 64; ++i) expected += std::string(kPiece, static_cast<char>('0' + i));
  EXPECT_TRUE(contents(folder / "a") == expected);
}

TEST(OutputFile, ReserveDoesNotChangeTheSizeAndRefusesTheImpossible) {
  const TemporaryFolder folder;
  OutputFile file(folder / "a");
  file.reserve(1 << 20);
  file.write("abc");
  EXPECT_THAT(error_of([&] { file.reserve(std::uint64_t{1} << 62); }), HasSubstr("reserve 4611686018427387904 bytes"));
  file.commit();
  EXPECT_EQ(std::filesystem::file_size(folder / "a"), 3u);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "a").c_str(), &status), 0);
  EXPECT_LE(status.st_blocks, 16);
}

TEST(OutputFile, KeepsTheModeAndFollowsLinks) {
  const TemporaryFolder folder;
  folder.put("real", "old");
  ASSERT_EQ(::chmod((folder / "real").c_str(), 0640), 0);
  std::filesystem::create_symlink("real", folder / "link");
  std::filesystem::create_symlink("fresh", folder / "dangling");
  for (const char* name : {"link", "dangling"}) {
    OutputFile file(folder / name);
    file.write("new");
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder / name));
  }
  EXPECT_EQ(contents(folder / "real"), "new");
  EXPECT_EQ(contents(folder / "fresh"), "new");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0640u);
}

TEST(OutputFile, ErrorsNameThePath) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { OutputFile file(folder / "no/such"); }),
              AllOf(HasSubstr("no/such"), HasSubstr("No such")));
  EXPECT_THAT(error_of([&] { OutputFile file(folder.path()); }), HasSubstr("Is a directory"));
  EXPECT_THAT(error_of([&] { OutputFile file(folder / std::string(300, 'x')); }), HasSubstr("name too long"));
  EXPECT_THAT(error_of([&] { OutputFile file(""); }), HasSubstr("empty name"));
  folder.put("file", "");
  EXPECT_THAT(error_of([&] { OutputFile file(folder / "file/a"); }), HasSubstr("Not a directory"));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, FullDeviceIsAnErrorWithPathAndOffset) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  OutputFile file("/dev/full");
  file.write("abc");
  EXPECT_THAT(error_of([&] { file.commit(); }), AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
  EXPECT_THAT(error_of([&] { file.write_at(7, "x", 1); }), HasSubstr("at byte 7"));
  EXPECT_THAT(error_of([&] { file.seek(7); }), HasSubstr("at byte 7"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(OutputFile, PipesAreWrittenDirectly) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = contents(pipe); });
  {
    OutputFile file(pipe);
    file.write("through");
    file.commit();
  }
  reader.join();
  EXPECT_EQ(received, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(OutputFile, RemoveTemporariesLeavesFinishedFiles) {
  const TemporaryFolder folder;
  OutputFile finished(folder / "finished");
  finished.write("x");
  finished.commit();
  OutputFile first(folder / "first");
  OutputFile second(folder / "second");
  EXPECT_EQ(folder.entries(), 3u);
  remove_temporaries();
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_THAT(error_of([&] { first.commit(); }), HasSubstr("first"));
}

TEST(OutputFile, RemoveTemporariesInAKilledProcess) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, [](int) {
      remove_temporaries();
      ::_exit(7);
    });
    OutputFile file(folder / "a");
    file.write(std::string(2 * OutputFile::kBufferBytes, 'x'));
    ::raise(SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace rthiss::io
