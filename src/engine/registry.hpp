#pragma once

#include <rthiss/searcher.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"

namespace rthiss {

/// What "auto" stands for: "cuda" where it was built, a device can be used and the work pays its start; else "cpu".
/// Another name is given back as it is.
[[nodiscard]] std::string choose_engine(const SearchOptions& options, std::uint64_t rows, std::uint64_t columns);

/// With the threads (and the device) of `options`. Throws InvalidArgument for an unknown name (lists the others),
/// UnsupportedError for an engine that is not built or cannot run here.
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::string_view name, const SearchOptions& options);

/// All that the project knows, built or not, with versions or reasons.
[[nodiscard]] std::vector<Availability> engine_availability();

/// Indexes of all engines. Asking may start a device; index_names() does not.
[[nodiscard]] std::vector<Availability> all_index_availability();
[[nodiscard]] std::vector<std::string> index_names();

}  // namespace rthiss
