// What people do with neighbours: the k nearest, clusters, near duplicates.
#include <rthiss/rthiss.hpp>

#include <cstdio>
#include <vector>

int main() {
  // Numbers on a line: two clusters, a pair of near duplicates in the first, and one number apart.
  const std::vector<double> points = {0.0, 1.0, 1.001, 2.0, 10.0, 11.0, 12.0, 50.0};
  rthiss::Searcher searcher(rthiss::PointsView::row_major(points.data(), points.size(), 1));

  const rthiss::NearestNeighbors nearest = rthiss::knn(searcher, 2);
  std::printf("nearest to 0: %u and %u\n", nearest.row(0)[0], nearest.row(0)[1]);

  const rthiss::Clustering clusters = rthiss::dbscan(searcher, 1.0, 2);
  std::printf("clusters:");
  for (const std::int64_t label : clusters.labels) std::printf(" %lld", static_cast<long long>(label));

  const rthiss::NearDuplicates duplicates = rthiss::near_duplicates(searcher, 0.01);
  std::printf("\nwithout near duplicates:");
  for (const std::uint32_t id : duplicates.keep) std::printf(" %u", id);

  // A shell: farther than 1, at most 2; of these the nearest.
  const rthiss::NeighborLists shell = searcher.self_join({.radius = 2.0, .min_radius = 1.0, .max_neighbors = 1});
  std::printf("\nbeyond 1 of the first: %u\n", shell.row(0)[0]);
}
