#pragma once

#include <rthiss/errors.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/statistics.hpp>

#include <chrono>

namespace rthiss {

/// One stage of a search, from construction to destruction: its seconds and its observer's labels. Starting a stage of
/// a cancelled search throws Cancelled.
class StageTimer {
 public:
  StageTimer(Stage stage, SearchStatistics& statistics, Observer* observer)
      : stage_(stage), statistics_(statistics), observer_(observer), begin_(Clock::now()) {
    if (observer_ == nullptr) return;
    if (observer_->cancelled()) throw Cancelled();
    observer_->stage_begin(stage_);
  }
  ~StageTimer() {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    statistics_.seconds[static_cast<std::size_t>(stage_)] += seconds;
    if (observer_ != nullptr) observer_->stage_end(stage_, seconds);
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  Stage stage_;
  SearchStatistics& statistics_;
  Observer* observer_;
  Clock::time_point begin_;
};

}  // namespace rthiss
