#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rthiss::simd {

/// Instruction sets that this build holds and this processor has, best first ("AVX3" is AVX-512).
[[nodiscard]] std::vector<std::string> supported_targets();

/// The one that calls are dispatched to.
[[nodiscard]] std::string active_target();

/// Dispatches every later call to `name`; an empty name restores the best. For tests and for the environment variable
/// RTHISS_SIMD. Throws UnsupportedError for a target that is not there; lists the others. Not thread-safe.
void force_target(std::string_view name);

}  // namespace rthiss::simd
