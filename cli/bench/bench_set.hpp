#pragma once

#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>

#include <string>

#include "generate/generated_points.hpp"
#include "input.hpp"

namespace rthiss::cli {

/// The rows that an experiment runs on: a file's, or made here.
class BenchSet {
 public:
  /// `name`: a path; a workload of `rthiss generate`, also with fewer rows as WORKLOAD:ROWS; uniform:ROWSxCOLUMNS or
  /// exponential:ROWSxCOLUMNS (float32, seed 1, rate 40). A file wins over a workload of the same name.
  /// Throws as read_input does; UsageError: a size that makes no sense; IoError: neither file nor workload.
  BenchSet(const std::string& name, const SearchOptions& options);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// [n x d], host memory; valid while the set lives.
  [[nodiscard]] PointsView view() const { return input_.points ? input_.points_view() : made_.view(); }

 private:
  std::string name_;
  Input input_;  ///< without points: they were made
  generate::GeneratedPoints made_;
};

}  // namespace rthiss::cli
