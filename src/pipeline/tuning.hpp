#pragma once

#include <array>
#include <cstddef>

/// Constants of the cost model, measured once on AVX-512 (benchmarks/micro); they steer speed, never results.
namespace rthiss::tuning {

/// Numbers of components that are tried. One less than a multiple of 16 leaves room for the norm of the rest.
inline constexpr std::array<std::size_t, 9> kComponentSteps = {7, 15, 23, 31, 47, 63, 79, 95, 127};
inline constexpr std::size_t kMostCoarseComponents = 127;
inline constexpr std::size_t kAliveSampleRows = 640;
/// Pairs in tiles that the boxes let through, over pairs that 15 components let through.
inline constexpr double kBoxLooseness = 4.0;
/// Cycles a pair: preparing its tile and a component in the dense filter; opening it and a component in the filters by
/// rows, of float32 or of bytes.
inline constexpr double kTileCost = 4.0;
inline constexpr double kDenseCost = 0.6 / 16.0;
inline constexpr double kPairCost = 20.0;
inline constexpr double kRowCost = 0.26;
inline constexpr double kByteCost = 0.125;
/// Cycles to project, group and arrange a row, for each of its columns and each component.
inline constexpr double kPrepareCost = 1.0;

}  // namespace rthiss::tuning
