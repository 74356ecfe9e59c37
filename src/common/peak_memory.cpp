#include "common/peak_memory.hpp"

#include <sys/resource.h>

namespace rthiss {

std::uint64_t peak_memory_bytes() noexcept {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace rthiss
