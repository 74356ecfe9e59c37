#pragma once

#include <rthiss/searcher.hpp>

#include <memory>
#include <string_view>
#include <vector>

#include "index/group_index.hpp"

namespace rthiss {

/// Throws UnsupportedError for an index that was not built, InvalidArgument for an unknown name; both list the others.
[[nodiscard]] std::unique_ptr<GroupIndex> make_index(std::string_view name);

/// All that the project knows, built or not, with versions or reasons.
[[nodiscard]] std::vector<Availability> index_availability();

}  // namespace rthiss
