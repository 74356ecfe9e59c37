// What a program of somebody else does with the installed library: public headers only, no internal include path.
#include <rthiss/rthiss.hpp>

#include <cstdio>

int main() {
  const double points[3] = {0.0, 1.0, 2.5};
  rthiss::Searcher searcher(rthiss::PointsView::row_major(points, 3, 1));
  const rthiss::NeighborLists lists = searcher.self_join(1.0);
  const bool right = lists.queries() == 3 && lists.pairs() == 2 && lists.row(0)[0] == 1 && lists.row(1)[0] == 0 &&
                     searcher.statistics().pairs == 2 && !rthiss::engines().empty();
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
