#include <rthiss/errors.hpp>

#include "fuzz_input.hpp"
#include "io/formats.hpp"
#include "io/gzip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kMemoryLimit = std::uint64_t{1} << 22;
  try {
    const rthiss::io::FileBytes inflated =
        rthiss::io::inflate_gzip(rthiss::io::fuzz::as_bytes(data, size), kMemoryLimit, "input");
    if (inflated.memory_bytes() > kMemoryLimit || inflated.bytes().size() > inflated.memory_bytes()) std::abort();
    rthiss::io::fuzz::require_inside(rthiss::io::parse_idx(inflated.bytes(), "input"), inflated.bytes());
  } catch (const rthiss::InvalidArgument&) {
  } catch (const rthiss::OutOfMemory&) {
  }
  return 0;
}
