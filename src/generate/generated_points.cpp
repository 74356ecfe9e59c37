#include "generate/generated_points.hpp"

#include <bit>

#include "generate/sha256.hpp"

namespace rthiss::generate {

// The digest is of the bytes in memory.
static_assert(std::endian::native == std::endian::little);

std::string sha256_of(const GeneratedPoints& points) { return sha256_of(points.data(), points.bytes()); }

}  // namespace rthiss::generate
