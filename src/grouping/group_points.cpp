#include "grouping/group_points.hpp"

namespace rthiss {

Grouping group_points(const ProjectedPoints& points, const GroupingOptions& options, const ThreadPool& pool) {
  switch (options.method) {
    case GroupingMethod::kMorton:
    case GroupingMethod::kHilbert:
      return group_along_curve(points, options, pool);
    case GroupingMethod::kBall:
      return build_ball_tree(points, options, pool);
    case GroupingMethod::kKdTree:
      break;
  }
  return build_kd_tree(points, options, pool);
}

}  // namespace rthiss
