#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "candidates/candidate_lists.hpp"

namespace rthiss::cpu {

/// Candidate lists of neighbouring groups that one worker goes through together: a block's rows are then fetched once
/// for all of them, and the groups' own rows stay in the second cache.
struct ListBundle {
  static constexpr std::size_t kMost = 4;

  std::array<std::uint32_t, kMost> lists;
  std::size_t count = 0;
  std::uint64_t entries = 0;

  /// Calls `body(list, block, next_block)` for every entry, ascending by block; stops when it returns false.
  template <typename Body>
  void for_entries(const CandidateLists& all, const Body& body) const {
    std::array<std::uint64_t, kMost> cursor{};
    for (std::size_t i = 0; i < count; ++i) cursor[i] = all.begin[lists[i]];
    const auto lowest = [&](std::uint32_t fallback) {
      std::uint32_t block = fallback;
      bool found = false;
      for (std::size_t i = 0; i < count; ++i) {
        if (cursor[i] == all.begin[lists[i] + 1]) continue;
        const std::uint32_t here = all.block_ids[cursor[i]];
        if (!found || here < block) block = here;
        found = true;
      }
      return block;
    };
    std::uint32_t block = lowest(0);
    for (std::uint64_t done = 0; done < entries;) {
      std::array<std::uint32_t, kMost> here;
      std::size_t matching = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (cursor[i] == all.begin[lists[i] + 1] || all.block_ids[cursor[i]] != block) continue;
        here[matching++] = lists[i];
        ++cursor[i];
      }
      const std::uint32_t next = lowest(block);
      for (std::size_t i = 0; i < matching; ++i) {
        if (!body(here[i], block, next)) return;
      }
      done += matching;
      block = next;
    }
  }
};

/// Bundles of consecutive groups, most entries first; smaller ones where there are few lists for the threads.
[[nodiscard]] inline std::vector<ListBundle> bundle_lists(const CandidateLists& all, std::size_t groups, int threads) {
  constexpr std::size_t kTasksPerThread = 24;
  const std::size_t size = std::clamp<std::size_t>(
      all.group_ids.size() / (kTasksPerThread * static_cast<std::size_t>(threads)), 1, ListBundle::kMost);
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> list_of(groups, kNone);
  for (std::size_t i = 0; i < all.group_ids.size(); ++i) list_of[all.group_ids[i]] = static_cast<std::uint32_t>(i);
  std::vector<ListBundle> bundles;
  for (const std::uint32_t list : list_of) {
    if (list == kNone) continue;
    if (bundles.empty() || bundles.back().count == size) bundles.emplace_back();
    ListBundle& bundle = bundles.back();
    bundle.lists[bundle.count++] = list;
    bundle.entries += all.begin[list + 1] - all.begin[list];
  }
  std::stable_sort(bundles.begin(), bundles.end(),
                   [](const ListBundle& a, const ListBundle& b) { return a.entries > b.entries; });
  return bundles;
}

}  // namespace rthiss::cpu
