#include "io/result_cost.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <system_error>

#include "io/result_spool.hpp"

namespace rthiss::io {

ResultCost disk_cost(const std::filesystem::path& output, std::uint64_t file_bytes, std::uint64_t spool_bytes) {
  ResultCost cost;
  cost.disk_bytes = spool_bytes + (is_plain_output(output) ? file_bytes : 0);
  struct statvfs system {};
  if (statvfs(spool_folder(output).c_str(), &system) == 0) {
    cost.disk_free = static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
  }
  return cost;
}

std::uint64_t id_digits(std::uint64_t count) noexcept {
  std::uint64_t digits = 1;
  for (std::uint64_t largest = std::max<std::uint64_t>(count, 1) - 1; largest >= 10; largest /= 10) ++digits;
  return digits;
}

}  // namespace rthiss::io
