#include "simd/sort.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>

namespace rthiss::simd {

void sort_ids(std::uint32_t* ids, std::size_t count) {
  // Below this the call into the vectorised sort costs more than it saves.
  constexpr std::size_t kSmall = 24;
  if (count <= kSmall) {
    std::sort(ids, ids + count);
    return;
  }
  thread_local hwy::Sorter sorter;
  sorter(ids, count, hwy::SortAscending());
}

}  // namespace rthiss::simd
