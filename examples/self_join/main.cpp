// All pairs of points within a radius of each other, with their distances.
#include <rthiss/rthiss.hpp>

#include <cstdio>

int main() {
  const float points[5][2] = {{0, 0}, {3, 4}, {6, 8}, {0, 5}, {3, 5}};

  rthiss::SearchOptions options;
  options.distances = true;
  rthiss::Searcher searcher(rthiss::PointsView::row_major(&points[0][0], 5, 2), options);

  // Pairs at exactly the radius, such as (0, 0) and (3, 4), belong to the result.
  const rthiss::NeighborLists lists = searcher.self_join(5.0);

  for (std::uint64_t i = 0; i < lists.queries(); ++i) {
    std::printf("point %d:", static_cast<int>(i));
    for (std::uint64_t k = lists.begin[i]; k < lists.begin[i + 1]; ++k) {
      std::printf("  %u at %.3f", lists.ids[k], lists.distances[k]);
    }
    std::printf("\n");
  }
}
