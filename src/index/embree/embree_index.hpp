#pragma once

#include <memory>
#include <string>

#include "index/group_index.hpp"

namespace rthiss {

/// Embree's hierarchy over the boxes of the groups in at most three components. Throws UnsupportedError where Embree
/// does not run on this processor, DeviceError where it fails.
[[nodiscard]] std::unique_ptr<GroupIndex> make_embree_index();

/// "Embree 3.13.5"
[[nodiscard]] std::string embree_version();

}  // namespace rthiss
