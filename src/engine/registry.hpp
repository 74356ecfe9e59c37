#pragma once

#include <rthiss/searcher.hpp>

#include <memory>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"

namespace rthiss {

/// `threads` as in SearchOptions. Throws InvalidArgument for an unknown name (lists the others), UnsupportedError for
/// an engine that is not built or cannot run here.
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::string_view name, int threads);

/// All that the project knows, built or not, with versions or reasons.
[[nodiscard]] std::vector<Availability> engine_availability();

}  // namespace rthiss
