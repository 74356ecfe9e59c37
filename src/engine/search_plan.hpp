#pragma once

#include <cstddef>

#include "grouping/grouping.hpp"
#include "projection/projection.hpp"

namespace rthiss {

/// What was chosen before groups are built: by the paper's rules, or from a sample of the data.
struct SearchPlan {
  Projection projection;
  std::size_t coarse_components = 0;  ///< of the projection that groups, bounds and the dense filter use
  bool use_fine = false;              ///< a second filter over all of the projection's components
  bool single_queries = false;        ///< query blocks of one query (paper) instead of groups of queries
  bool cascade = true;
  bool cull_rows = true;         ///< test single queries against boxes of points before the dense filter
  bool coarse_complete = false;  ///< the coarse image is an isometry
  GroupingOptions grouping;
  std::size_t test_components = 3;  ///< of the index's candidate test
  bool sphere_boxes = false;
  bool box_distance = true;
};

}  // namespace rthiss
