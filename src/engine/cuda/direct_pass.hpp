#pragma once

#include <cstdint>

#include "common/host_device.hpp"
#include "engine/cuda/device_types.hpp"
#include "engine/cuda/open_pairs.hpp"

namespace rthiss::cuda {

/// Numbers that a direct pass adds up.
struct DirectTally {
  unsigned long long comparisons, in_double, open, pairs;
};

/// Limits of the tiers on the device: of float32 sums over images, and of float64 sums over stored values.
struct DirectRule {
  float out, in;
  double double_in, double_out;
  bool drop_self;
};

/// One pass of the direct join over the queries [row_begin, row_end) and the groups [group_begin, group_end); positions
/// are relative to row_begin in all arrays. The counting pass has `counts`, `open` and `tally`; the listing pass has
/// the others, and leaves out open pairs, which the host's answer entered before.
struct DirectPass {
  DeviceSet queries, points;
  DirectRule rule;
  std::uint32_t row_begin = 0, row_end = 0, group_begin = 0, group_end = 0;
  std::uint32_t* counts = nullptr;  ///< added to
  OpenPair* open = nullptr;
  unsigned long long open_room = 0;
  DirectTally* tally = nullptr;
  unsigned long long* cursor = nullptr;  ///< next free place of each row, moved on
  const std::uint64_t* end = nullptr;    ///< [rows] nothing is written there or beyond
  std::uint32_t* ids = nullptr;

  [[nodiscard]] RTHISS_HOST_DEVICE bool lists() const { return ids != nullptr; }
};

}  // namespace rthiss::cuda
