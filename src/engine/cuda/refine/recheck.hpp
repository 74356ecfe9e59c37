#pragma once

#include "engine/cuda/refine/tile_filter.hpp"

namespace rthiss::cuda {

/// Numbers of one recheck.
struct RecheckTally {
  unsigned long long decided;  ///< in float64
  unsigned long long rest;     ///< left for the host
};

/// Decides pairs in float64.
///
/// Where the metric is Euclidean: the sum of squared differences of the stored values against DoubleLimits. Else the
/// same sum of the rows' images, which is off by (d + 3) 2^-53 relative, against the radii of FilterLimits moved by the
/// images' errors; 1e-9 covers that and the roundings of the limits for fewer than 10^6 columns.
class Recheck {
 public:
  explicit Recheck(const DeviceTask& task);

  /// Hits of `open` [count] go to `hits`; what stays open to `rest` [count].
  void run(const OpenPair* open, std::uint64_t count, const PairRule& rule, const HitTarget& hits, OpenPair* rest,
           RecheckTally* tally, Stream stream) const;

 private:
  const DeviceTask& task_;
  DoubleLimits stored_;
  double out_radius_, in_radius_;
};

/// Enters pairs that are known to be hits.
void enter_hits(const OpenPair* pairs, std::uint64_t count, const PairRule& rule, const HitTarget& hits, Stream stream);

}  // namespace rthiss::cuda
