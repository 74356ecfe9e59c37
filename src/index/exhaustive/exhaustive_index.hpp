#pragma once

#include <memory>

#include "index/group_index.hpp"

namespace rthiss {

/// Every group is a candidate of every block: brute force, and the reference for the other indexes.
[[nodiscard]] std::unique_ptr<GroupIndex> make_exhaustive_index();

}  // namespace rthiss
