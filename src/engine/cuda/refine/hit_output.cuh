#pragma once

#include "engine/cuda/launch.hpp"
#include "engine/cuda/refine/tile_filter.hpp"

namespace rthiss::cuda {

__device__ inline void add_hits(const HitTarget& target, std::uint32_t row, std::uint32_t hits) {
  if (hits == 0) return;
  const std::uint32_t at = row - target.first_row;
  if (target.counts32 != nullptr) {
    atomicAdd(target.counts32 + at, hits);
  } else {
    atomicAdd(target.counts64 + at, static_cast<unsigned long long>(hits));
  }
}

/// A query beside points of which bit j stands for point first + j.
struct PointColumn {
  std::uint32_t query, first;
  [[nodiscard]] __device__ OpenPair operator()(std::uint32_t bit) const { return {query, first + bit}; }
};

/// Takes the hits of a warp's tiles: counts them, and keeps them where that is asked for. All calls are made by the
/// whole warp.
class HitWriter {
 public:
  __device__ HitWriter(const HitTarget& target, const PairRule& rule, std::uint32_t lane)
      : target_(target), rule_(rule), lane_(lane) {}

  /// Bit 4 i + v of a lane's masks stands for the point first_point + 16 i + 8 (v / 2) and the query queries[v % 2].
  /// `same_group`: a query may be the point itself, and each unordered pair is met twice.
  __device__ void enter(std::uint32_t maybe, std::uint32_t sure, const std::uint32_t (&queries)[2],
                        std::uint32_t first_point, bool same_group) {
    const auto pair_of = [&](std::uint32_t bit) {
      return OpenPair{bit % 2 == 0 ? queries[0] : queries[1], point_at(first_point, bit)};
    };
    std::uint32_t self = 0;
    if (same_group) {
      std::uint32_t dropped = 0;
      for (std::uint32_t bits = maybe; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::uint32_t>(__ffs(bits) - 1);
        const OpenPair pair = pair_of(bit);
        const bool itself = pair.query == pair.point;
        if (itself) self |= 1U << bit;
        if (itself ? !rule_.include_self : (rule_.mirror && pair.query > pair.point)) dropped |= 1U << bit;
      }
      maybe &= ~dropped;
      sure &= ~dropped;
    }
    count(sure, self, queries, first_point);
    if (target_.pairs != nullptr) store(sure, pair_of, target_.pairs, target_.pair_room, &HitTally::pairs);
    store(maybe & ~sure, pair_of, target_.open, target_.open_room, &HitTally::open);
  }

  /// Pairs that are not decided, of a single query.
  __device__ void enter_open(std::uint32_t open, const PointColumn& column) {
    store(open, column, target_.open, target_.open_room, &HitTally::open);
  }

  /// Hits of a single query, which are not mirrored.
  __device__ void enter_hits(std::uint32_t hits, const PointColumn& column) {
    const auto found = static_cast<std::uint32_t>(__popc(hits));
    add_hits(target_, column.query, found);
    ordered_ += found;
    if (target_.pairs != nullptr) store(hits, column, target_.pairs, target_.pair_room, &HitTally::pairs);
  }

  /// Hits of a single query, which are not mirrored: bit j stands for point first_point + j.
  __device__ void enter_word(unsigned long long hits, std::uint32_t query, std::uint32_t first_point) {
    const auto found = static_cast<std::uint32_t>(__popcll(hits));
    add_hits(target_, query, found);
    ordered_ += found;
    if (target_.pairs == nullptr) return;
    for (std::uint32_t half = 0; half < 2; ++half) {
      const auto bits = static_cast<std::uint32_t>(hits >> (32 * half));
      const auto pair_of = [&](std::uint32_t bit) { return OpenPair{query, first_point + 32 * half + bit}; };
      store(bits, pair_of, target_.pairs, target_.pair_room, &HitTally::pairs);
    }
  }

  /// Adds the warp's numbers to the tally.
  __device__ void finish(unsigned long long compared) {
    for (int offset = 16; offset > 0; offset /= 2) ordered_ += __shfl_xor_sync(kWholeWarp, ordered_, offset);
    if (lane_ != 0) return;
    atomicAdd(&target_.tally->ordered, ordered_);
    atomicAdd(&target_.tally->compared, compared);
  }

 private:
  __device__ static std::uint32_t point_at(std::uint32_t first, std::uint32_t bit) {
    return first + bit / 4 * 16 + bit % 4 / 2 * 8;
  }

  __device__ void count(std::uint32_t sure, std::uint32_t self, const std::uint32_t (&queries)[2],
                        std::uint32_t first_point) {
    if (sure == 0) return;
    const auto hits = static_cast<std::uint32_t>(__popc(sure));
    add_hits(target_, queries[0], static_cast<std::uint32_t>(__popc(sure & 0x55555555U)));
    add_hits(target_, queries[1], static_cast<std::uint32_t>(__popc(sure & 0xAAAAAAAAU)));
    ordered_ += hits;
    if (!rule_.mirror) return;
    for (std::uint32_t pair = 0; pair < 8; ++pair) {
      const std::uint32_t both = (sure & ~self) >> (2 * pair) & 3U;
      const std::uint32_t point = point_at(first_point, 2 * pair);
      if (both == 0 || point < rule_.row_begin || point >= rule_.row_end) continue;
      add_hits(target_, point, static_cast<std::uint32_t>(__popc(both)));
      ordered_ += static_cast<std::uint32_t>(__popc(both));
    }
  }

  template <typename PairOf>
  __device__ void store(std::uint32_t bits, const PairOf& pair_of, OpenPair* target, unsigned long long room,
                        unsigned long long HitTally::*cursor) {
    if (!__any_sync(kWholeWarp, bits != 0)) return;
    std::uint32_t before = static_cast<std::uint32_t>(__popc(bits));
    for (int offset = 1; offset < 32; offset *= 2) {
      const std::uint32_t other = __shfl_up_sync(kWholeWarp, before, offset);
      if (lane_ >= static_cast<std::uint32_t>(offset)) before += other;
    }
    unsigned long long at = 0;
    if (lane_ == 31) at = atomicAdd(&(target_.tally->*cursor), static_cast<unsigned long long>(before));
    at = __shfl_sync(kWholeWarp, at, 31) + before - static_cast<std::uint32_t>(__popc(bits));
    for (; bits != 0; bits &= bits - 1, ++at) {
      if (at >= room) continue;
      const auto bit = static_cast<std::uint32_t>(__ffs(bits) - 1);
      target[at] = pair_of(bit);
    }
  }

  const HitTarget& target_;
  const PairRule& rule_;
  std::uint32_t lane_;
  unsigned long long ordered_ = 0;
};

}  // namespace rthiss::cuda
