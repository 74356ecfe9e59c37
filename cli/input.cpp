#include "input.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <chrono>

#include "batching/memory.hpp"
#include "errors.hpp"
#include "interruption.hpp"

namespace rthiss::cli {

Input read_input(const std::string& points, const std::string& queries, const SearchOptions& options) {
  if (points == "-" && queries == "-") throw UsageError("points and queries cannot both come from standard input");
  const auto begin = std::chrono::steady_clock::now();
  io::ReadOptions read;
  read.memory_limit = options.memory_limit != 0 ? options.memory_limit : default_memory_budget();
  Input input;
  input.points.emplace(io::read_points(points, read));
  stop_if_interrupted();
  if (!queries.empty()) {
    input.queries.emplace(io::read_points(queries, read));
    stop_if_interrupted();
    if (input.queries->view().columns != input.points->view().columns) {
      throw InvalidArgument(fmt::format("'{}' has {} columns, but '{}' has {}; queries and points need the same",
                                        queries, input.queries->view().columns, points, input.points->view().columns));
    }
  }
  input.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return input;
}

}  // namespace rthiss::cli
