#pragma once

#include <cstddef>

namespace rthiss::micro {

/// Runs `rounds` rounds of independent fused multiply-adds on float32 and returns how many floating-point operations
/// that were (2 a lane). They go through the same dispatch as the library's kernels.
std::size_t run_fma(std::size_t rounds);

/// Floating-point operations a second of one thread at best, of the instruction set that is dispatched to; measured on
/// the first call, in processor time.
[[nodiscard]] double peak_flops();

}  // namespace rthiss::micro
