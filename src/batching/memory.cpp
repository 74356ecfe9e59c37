#include "batching/memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace rthiss {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUnknownBudget = std::uint64_t{1} << 30;

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// The number at the start, blanks skipped; nothing for "max".
std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc()) return std::nullopt;
  return value;
}

/// The number after the first line that starts with `name`.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(name)) return leading_number(line.substr(name.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

struct ControlFiles {
  const char *limit, *usage, *reclaimable;
};
constexpr ControlFiles kVersion2{"memory.max", "memory.current", "inactive_file "};
constexpr ControlFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};

void take_least(std::optional<std::uint64_t>& least, std::optional<std::uint64_t> value) {
  if (value && (!least || *value < *least)) least = value;
}

std::optional<std::uint64_t> left_in_group(const fs::path& folder, const ControlFiles& files) {
  const auto limit_text = read_text(folder / files.limit);
  const auto usage_text = read_text(folder / files.usage);
  if (!limit_text || !usage_text) return std::nullopt;
  const auto limit = leading_number(*limit_text);
  const auto usage = leading_number(*usage_text);
  if (!limit || !usage) return std::nullopt;
  std::uint64_t used = *usage;
  if (const auto statistics = read_text(folder / "memory.stat")) {
    used -= std::min(used, number_after(*statistics, files.reclaimable).value_or(0));
  }
  return *limit > used ? *limit - used : 0;
}

/// Least over the group and all above it. In a container the path of the group may name a folder of the host that is
/// not there; the mount's top then stands for the container's own group and is always looked at.
std::optional<std::uint64_t> left_along(const fs::path& mount, std::string_view group, const ControlFiles& files) {
  std::optional<std::uint64_t> least = left_in_group(mount, files);
  fs::path folder = mount;
  for (const fs::path& part : fs::path(group).relative_path()) {
    folder /= part;
    take_least(least, left_in_group(folder, files));
  }
  return least;
}

std::optional<std::uint64_t> left_in_control_groups(const fs::path& root) {
  std::optional<std::uint64_t> least;
  std::istringstream lines(read_text(root / "proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {  // "id:controllers:path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first, second - first + 1);  // with the colons about it
    std::replace(controllers.begin(), controllers.end(), ':', ',');
    const std::string_view group = std::string_view(line).substr(second + 1);
    if (controllers == ",,") take_least(least, left_along(root / "sys/fs/cgroup", group, kVersion2));
    if (controllers.find(",memory,") != std::string::npos) {
      take_least(least, left_along(root / "sys/fs/cgroup/memory", group, kVersion1));
    }
  }
  return least;
}

}  // namespace

std::optional<std::uint64_t> meminfo_field(std::string_view text, std::string_view name) {
  const auto kilobytes = number_after(text, std::string(name) + ":");
  if (!kilobytes) return std::nullopt;
  return *kilobytes * 1024;
}

std::optional<std::uint64_t> free_memory_bytes(const std::filesystem::path& root) {
  std::optional<std::uint64_t> least = meminfo_field(read_text(root / "proc/meminfo").value_or(""), "MemAvailable");
  take_least(least, left_in_control_groups(root));
  return least;
}

std::uint64_t default_memory_budget() {
  const auto free = free_memory_bytes();
  return free ? *free / 2 : kUnknownBudget;
}

}  // namespace rthiss
