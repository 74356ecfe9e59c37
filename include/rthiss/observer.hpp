#pragma once

#include <cstdint>
#include <string_view>

namespace rthiss {

/// The pipeline's stages, named as in the paper; `name_of` gives the key used in the JSON statistics.
enum class Stage : std::uint8_t {
  kRead,
  kOrder,  ///< projection: variance order or principal components
  kGroup,
  kBound,
  kIndex,
  kFit,   ///< first intersection test
  kPlan,  ///< sampling, choices, batch plan
  kCount,
  kFill,
  kRefine,
  kCompact,
  kOutput,
};
inline constexpr int kStageCount = 12;

[[nodiscard]] std::string_view name_of(Stage stage) noexcept;

/// Progress of a search, as its pipeline reports it.
struct Progress {
  Stage stage = Stage::kRead;
  std::uint64_t batch = 0;      ///< 0-based
  std::uint64_t batches = 0;    ///< 0 while not known
  std::uint64_t work_done = 0;  ///< candidate entries refined, of work_total
  std::uint64_t work_total = 0;
  std::uint64_t pairs = 0;  ///< ordered pairs found so far
};

/// Watches and cancels a search. Calls may come from worker threads, several at once; they must be cheap.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void stage_begin(Stage /*stage*/) {}
  virtual void stage_end(Stage /*stage*/, double /*seconds*/) {}
  virtual void progress(const Progress& /*progress*/) {}
  /// A line of what `auto` decided or of what the caller should know. The library itself prints nothing.
  virtual void log(std::string_view /*message*/) {}
  /// Polled at least every few hundred milliseconds; true makes the search throw `Cancelled`.
  [[nodiscard]] virtual bool cancelled() const { return false; }
};

}  // namespace rthiss
