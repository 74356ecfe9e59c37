#include <rthiss/errors.hpp>

#include "fuzz_input.hpp"
#include "io/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = rthiss::io::fuzz::as_bytes(data, size);
  for (const rthiss::DType dtype : {rthiss::DType::kFloat32, rthiss::DType::kUInt8, rthiss::DType::kInt32}) {
    try {
      rthiss::io::fuzz::require_inside(rthiss::io::parse_vecs(bytes, dtype, "input"), bytes);
    } catch (const rthiss::InvalidArgument&) {
    }
  }
  return 0;
}
