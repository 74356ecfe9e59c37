#pragma once

#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/result_reader.hpp"

namespace rthiss {
class Observer;
}

namespace rthiss::cli {

/// What a stored result has wrong, over the rows that were checked.
struct Verification {
  std::uint64_t rows_checked = 0;
  std::uint64_t pairs_checked = 0;    ///< that the oracle found
  std::uint64_t missing_pairs = 0;    ///< that the result lacks
  std::uint64_t extra_pairs = 0;      ///< that it should not have
  std::uint64_t wrong_distances = 0;  ///< not the correctly rounded value
  std::uint64_t wrong_counts = 0;     ///< of a result that holds counts only
  std::vector<std::string> examples;  ///< the first few

  [[nodiscard]] bool correct() const noexcept {
    return missing_pairs + extra_pairs + wrong_distances + wrong_counts == 0;
  }
};

/// Compares rows of `stored` with what the reference engine finds without any index. `queries` null: self-join.
/// `sample`: how many rows, seeded by options.seed; empty: all. `value`: radius or similarity.
[[nodiscard]] Verification verify_result(const io::StoredResult& stored, const PointsView& points,
                                         const PointsView* queries, double value, SearchOptions options,
                                         std::optional<std::uint64_t> sample, Observer* observer);

}  // namespace rthiss::cli
