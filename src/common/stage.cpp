#include <rthiss/observer.hpp>

namespace rthiss {

std::string_view name_of(Stage stage) noexcept {
  static constexpr std::string_view kNames[kStageCount] = {"read", "order", "group", "bound",  "index",   "fit",
                                                           "plan", "count", "fill",  "refine", "compact", "output"};
  return kNames[static_cast<int>(stage)];
}

}  // namespace rthiss
