#include "commands/far_pair_text.hpp"

#include <fmt/format.h>

#include "number_text.hpp"

namespace rthiss::cli {

std::string far_pair_text(std::string_view what, std::uint64_t chained, const std::optional<FarPair>& far) {
  if (!far) return fmt::format("all {} are cliques: every two rows of one are neighbours", what);
  return fmt::format(
      "{} of the {} are no cliques: rows {} and {} are in one by a chain of others and no neighbours ({})",
      with_commas(chained), what, far->first, far->second, exact_text(far->distance));
}

nlohmann::ordered_json far_pair_json(const std::optional<FarPair>& far) {
  if (!far) return nullptr;
  return {{"first", far->first}, {"second", far->second}, {"distance", json_number(far->distance)}};
}

}  // namespace rthiss::cli
