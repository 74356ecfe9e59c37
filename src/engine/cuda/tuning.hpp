#pragma once

#include <cstddef>
#include <cstdint>

/// Constants of the CUDA engine; they steer speed, never results.
namespace rthiss::cuda::tuning {

/// Values that group rows and bound groups: components, and the norm of the rest.
inline constexpr std::size_t kBoundWidth = 16;
/// Rows of a group; the side of a tile.
inline constexpr std::size_t kGroupSize = 64;
/// Rows of at most this many columns are joined directly, without candidate lists.
inline constexpr std::uint32_t kMostDirectColumns = 3;
/// Batches in flight: one is refined while the rows of another go to the host.
inline constexpr std::size_t kSlots = 2;

}  // namespace rthiss::cuda::tuning
