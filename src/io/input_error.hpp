#pragma once

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <cstdint>
#include <string_view>

namespace rthiss::io {

/// Refuses the contents of an input file, naming where.
[[noreturn]] inline void refuse_input(std::string_view path, std::uint64_t offset, std::string_view reason) {
  throw InvalidArgument(fmt::format("'{}', byte {}: {}", path, offset, reason));
}

}  // namespace rthiss::io
