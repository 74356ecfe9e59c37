#pragma once

#include <memory>

#include "index/group_index.hpp"

namespace rthiss {

/// A 16-ary hierarchy over the groups in the order in which they stand, boxes in any number of components.
[[nodiscard]] std::unique_ptr<GroupIndex> make_bvh_index();

}  // namespace rthiss
