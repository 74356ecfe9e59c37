#include <rthiss/errors.hpp>

#include "fuzz_input.hpp"
#include "io/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = rthiss::io::fuzz::as_bytes(data, size);
  try {
    rthiss::io::fuzz::require_inside(rthiss::io::parse_idx(bytes, "input"), bytes);
  } catch (const rthiss::InvalidArgument&) {
  }
  return 0;
}
