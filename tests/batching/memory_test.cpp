#include "batching/memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace rthiss::test {
namespace {

namespace fs = std::filesystem;

/// A folder that stands for "/".
class Memory : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rthiss-memory-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

TEST_F(Memory, UnknownWhereTheSystemTellsNothing) { EXPECT_EQ(free_memory_bytes(root_), std::nullopt); }

TEST_F(Memory, TakesWhatIsAvailable) {
  write("proc/meminfo", "MemTotal:       16000 kB\nMemFree:         100 kB\nMemAvailable:    8000 kB\n");
  EXPECT_EQ(free_memory_bytes(root_), 8000u * 1024);
}

TEST_F(Memory, TakesTheLeastLimitOfVersion2) {
  write("proc/meminfo", "MemAvailable:    8000 kB\n");
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/memory.max", "5000000\n");
  write("sys/fs/cgroup/outer/memory.current", "3000000\n");
  write("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 400000\nactive_file 7\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/inner/memory.current", "10\n");
  EXPECT_EQ(free_memory_bytes(root_), 2400000u);
  write("sys/fs/cgroup/outer/memory.current", "6000000\n");
  EXPECT_EQ(free_memory_bytes(root_), 0u);
}

TEST_F(Memory, LooksAtTheTopOfAContainersMount) {
  write("proc/meminfo", "MemAvailable:    8000 kB\n");
  write("proc/self/cgroup", "0::/not/mounted/here\n");
  write("sys/fs/cgroup/memory.max", "1000000\n");
  write("sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(free_memory_bytes(root_), 999000u);
}

TEST_F(Memory, TakesTheLimitOfVersion1) {
  write("proc/meminfo", "MemAvailable:    8000 kB\n");
  write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "70000\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "500000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "60000\n");
  write("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 10000\n");
  EXPECT_EQ(free_memory_bytes(root_), 450000u);
}

TEST_F(Memory, HereItIsMoreThanNothing) { EXPECT_GT(default_memory_budget(), 0u); }

}  // namespace
}  // namespace rthiss::test
