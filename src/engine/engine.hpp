#pragma once

#include <rthiss/options.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/parallel.hpp"
#include "engine/search_stages.hpp"

namespace rthiss {

/// What the choices of `preset = auto` have to know of an engine.
struct PlanTraits {
  /// 0: components, filters and their order come from the cost model of the cascade. Else the engine's filter takes
  /// all columns, and this many values at most group the rows and bound the groups.
  std::size_t bound_width = 0;
  std::size_t group_size = 64;  ///< rows of a group
};

/// Arithmetic of the stages on one kind of hardware. Owns its threads.
class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual const ThreadPool& pool() const = 0;
  /// Numbers of the devices that the engine works on; none for an engine of the host.
  [[nodiscard]] virtual std::vector<int> devices() const { return {}; }
  [[nodiscard]] virtual PlanTraits plan_traits() const { return {}; }
  /// Throws UnsupportedError for what the engine cannot honour.
  virtual void check(const SearchOptions& options) const = 0;
  /// The index that "auto" stands for, or the name itself. Throws InvalidArgument or UnsupportedError with the others.
  [[nodiscard]] virtual std::string resolve_index(std::string_view name) const = 0;
  [[nodiscard]] virtual std::unique_ptr<SearchStages> make_stages(const StageSetup& setup) const = 0;
};

}  // namespace rthiss
