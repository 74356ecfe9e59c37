#pragma once

#include <array>
#include <cstddef>

/// Constants of the cost model, measured once on AVX-512 (benchmarks/micro); they steer speed, never results.
namespace rthiss::tuning {

/// Numbers of components that are tried. One less than a multiple of 16 leaves room for the norm of the rest.
inline constexpr std::array<std::size_t, 9> kComponentSteps = {7, 15, 23, 31, 47, 63, 79, 95, 127};
inline constexpr std::size_t kMostCoarseComponents = 127;
inline constexpr std::size_t kAliveSampleRows = 1024;
/// Pairs in tiles that the boxes let through, over pairs that 15 components let through.
inline constexpr double kBoxLooseness = 4.0;
/// Vector instructions a pair: preparing a tile, opening a pair, and a component in each filter by rows.
inline constexpr double kTileCost = 0.25;
inline constexpr double kPairCost = 8.0;
inline constexpr double kFineCost = 2.0 / 16.0;
inline constexpr double kFullCost = 3.0 / 16.0;

}  // namespace rthiss::tuning
