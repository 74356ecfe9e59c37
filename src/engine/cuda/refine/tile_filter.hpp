#pragma once

#include <cstdint>

#include "engine/cuda/device_types.hpp"
#include "engine/cuda/open_pairs.hpp"
#include "engine/cuda/refine/filter_rows.hpp"

namespace rthiss::cuda {

/// Numbers that the kernels of a batch add up. `pairs` and `open` count what was wanted, also beyond the room.
struct HitTally {
  unsigned long long pairs;     ///< entered in `pairs`, each once
  unsigned long long open;      ///< entered in `open`
  unsigned long long ordered;   ///< hits in all rows: mirrored pairs twice
  unsigned long long compared;  ///< pairs computed
  unsigned long long next;      ///< next task
};

/// Where hits go: at least into the counts.
struct HitTarget {
  std::uint32_t* counts32 = nullptr;       ///< [rows of the batch] by position - first_row, or null
  unsigned long long* counts64 = nullptr;  ///< the same in 64 bits
  std::uint32_t first_row = 0;
  OpenPair* pairs = nullptr;  ///< [pair_room] hits, or null where numbers are enough
  unsigned long long pair_room = 0;
  OpenPair* open = nullptr;  ///< [open_room] pairs that were not decided
  unsigned long long open_room = 0;
  HitTally* tally = nullptr;
};

/// What a pair (query, point) of positions stands for.
struct PairRule {
  bool self_join = false, include_self = false;
  bool mirror = false;  ///< DeviceRange::mirror: then (q, p), p a row of the batch, q != p, also stands for (p, q)
  std::uint32_t row_begin = 0, row_end = 0;

#ifdef __CUDACC__
  [[nodiscard]] __device__ bool mirrored(std::uint32_t query, std::uint32_t point) const {
    return mirror && query != point && point >= row_begin && point < row_end;
  }
#endif
};

/// Candidate lists cut into tasks of about equal work: up to 64 rows of a list's group against some of its entries.
/// The tasks of `window` lists alternate, the first of each, then the second; lists that have fewer are filled up.
class TileTasks {
 public:
  TileTasks(const DeviceLists& lists, const DeviceTask& task, const FilterData& rows, DeviceMemory& memory,
            Stream stream);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::uint64_t* begin() const { return begin_.data(); }
  [[nodiscard]] std::uint32_t entries() const { return entries_; }  ///< of a task, at most
  [[nodiscard]] std::uint32_t window() const { return window_; }

 private:
  DeviceArray<std::uint64_t> begin_;  // [windows + 1]
  std::uint64_t size_ = 0;
  std::uint32_t entries_ = 1, window_ = 1;
};

/// Filters the tasks [first, last) with the matrix units; `target.tally` is added to, its `next` is overwritten.
void filter_tiles(const DeviceTask& task, const FilterData& rows, const DeviceLists& lists, const TileTasks& tasks,
                  std::uint64_t first, std::uint64_t last, const PairRule& rule, const HitTarget& target,
                  Stream stream);

}  // namespace rthiss::cuda
