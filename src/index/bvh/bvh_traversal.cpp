#include "index/bvh/bvh_traversal.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/bvh/bvh_traversal.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Adds one component to the sum of squared gaps, or to the greatest gap.
template <bool kSquared, class D, class V>
HWY_INLINE V add_gap(D d, V sum, const float* boxes, V query_low, V query_high) {
  const V low = hn::Load(d, boxes);
  const V high = hn::Load(d, boxes + kBvhFanout);
  const V gap = hn::Max(hn::Max(hn::Sub(query_low, high), hn::Sub(low, query_high)), hn::Zero(d));
  if constexpr (kSquared) {
    return hn::MulAdd(gap, gap, sum);
  } else {
    return hn::Max(sum, gap);
  }
}

/// The children that pass the test, as bits.
template <bool kSquared>
HWY_INLINE std::uint32_t near_children(const float* node, std::size_t components, const BvhQuery& query,
                                       const CandidateThreshold& threshold) {
  const hn::CappedTag<float, kBvhFanout> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kComponentFloats = 2 * kBvhFanout;
  std::uint32_t near = 0;
  for (std::size_t lane = 0; lane < kBvhFanout; lane += lanes) {
    const auto error = hn::Load(d, node + components * kComponentFloats + lane);
    const auto reach = hn::Add(hn::Set(d, query.reach), error);
    const auto limit = hn::MulAdd(kSquared ? hn::Mul(reach, reach) : reach, hn::Set(d, threshold.factor()),
                                  hn::Set(d, threshold.floor()));
    const float* boxes = node + lane;
    auto sum = hn::Zero(d);
    bool alive = true;
    std::size_t c = 0;
    // Sums only grow, so a partial sum above the limit settles a lane; asking costs about as much as a component.
    for (; alive && c + 4 <= components; c += 4) {
      for (std::size_t i = c; i < c + 4; ++i, boxes += kComponentFloats) {
        sum = add_gap<kSquared>(d, sum, boxes, hn::Set(d, query.low[i]), hn::Set(d, query.high[i]));
      }
      alive = !hn::AllFalse(d, hn::Le(sum, limit));
    }
    if (!alive) continue;
    for (; c < components; ++c, boxes += kComponentFloats) {
      sum = add_gap<kSquared>(d, sum, boxes, hn::Set(d, query.low[c]), hn::Set(d, query.high[c]));
    }
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Le(sum, limit), bits);
    near |= (std::uint32_t{bits[0]} | std::uint32_t{bits[1]} << 8) << lane;
  }
  return near;
}

/// Appends first + i for every bit i.
HWY_INLINE std::uint32_t* append_ids(std::uint32_t first, std::uint32_t near, std::uint32_t* ids) {
  const hn::CappedTag<std::uint32_t, kBvhFanout> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t lane = 0; lane < kBvhFanout; lane += lanes) {
    const std::uint32_t part = near >> lane;
    const std::uint8_t bits[8] = {static_cast<std::uint8_t>(lanes < 8 ? part & ((1u << lanes) - 1) : part),
                                  static_cast<std::uint8_t>(lanes > 8 ? part >> 8 : 0)};
    ids += hn::CompressBitsStore(hn::Iota(d, first + static_cast<std::uint32_t>(lane)), bits, d, ids);
  }
  return ids;
}

template <bool kSquared>
std::size_t traverse(const BvhView& bvh, const BvhQuery& query, const CandidateThreshold& threshold,
                     std::uint32_t begin, std::uint32_t end, std::uint32_t* ids) {
  std::uint32_t* next_id = ids;
  std::uint32_t node[kBvhGreatestLevels];
  std::uint32_t pending[kBvhGreatestLevels];  // children of node[level] that are still to be visited
  const int top = bvh.levels - 1;
  const auto enter = [&](int level, std::uint32_t index) HWY_ATTR {
    const std::uint32_t wanted = bvh_children_in_range(level, index, begin, end);
    const std::uint32_t near =
        wanted == 0 ? 0 : wanted & near_children<kSquared>(bvh.node(level, index), bvh.components, query, threshold);
    if (level == 0) {
      next_id = append_ids(index * kBvhFanout, near, next_id);
      return;
    }
    node[level] = index;
    pending[level] = near;
  };
  enter(top, 0);
  for (int level = top == 0 ? 1 : top; level <= top;) {
    if (pending[level] == 0) {
      ++level;
      continue;
    }
    const auto child = static_cast<std::uint32_t>(hwy::Num0BitsBelowLS1Bit_Nonzero32(pending[level]));
    pending[level] &= pending[level] - 1;
    enter(level - 1, node[level] * kBvhFanout + child);
    if (level > 1) --level;
  }
  return static_cast<std::size_t>(next_id - ids);
}

std::size_t find_near_groups(const BvhView& bvh, const BvhQuery& query, const CandidateThreshold& threshold,
                             std::uint32_t begin, std::uint32_t end, std::uint32_t* ids) {
  return threshold.squared() ? traverse<true>(bvh, query, threshold, begin, end, ids)
                             : traverse<false>(bvh, query, threshold, begin, end, ids);
}

}  // namespace HWY_NAMESPACE
}  // namespace rthiss
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss {

HWY_EXPORT(find_near_groups);

BvhTraversal best_bvh_traversal() {
  return [](const BvhView& bvh, const BvhQuery& query, const CandidateThreshold& threshold, std::uint32_t begin,
            std::uint32_t end, std::uint32_t* ids) {
    return HWY_DYNAMIC_DISPATCH(find_near_groups)(bvh, query, threshold, begin, end, ids);
  };
}

}  // namespace rthiss
#endif
