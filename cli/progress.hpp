#pragma once

#include <rthiss/observer.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace rthiss::cli {

enum class ProgressMode : std::uint8_t { kAuto, kOn, kOff };

/// One line on stderr that says how far a search is, and the way by which a signal stops the search.
class ProgressLine final : public Observer {
 public:
  /// kAuto: only where stderr is a terminal. On a terminal the line is rewritten in place; elsewhere (kOn) a new one
  /// appears every few seconds.
  explicit ProgressLine(ProgressMode mode);
  /// Clears the line.
  ~ProgressLine() override;

  void stage_begin(Stage stage) override;
  void progress(const Progress& progress) override;
  void log(std::string_view message) override;
  [[nodiscard]] bool cancelled() const override;

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_due() noexcept;
  [[nodiscard]] std::string describe(const Progress& progress);
  void show(const std::string& text);
  void clear();

  bool shown_;
  bool terminal_;
  std::atomic<std::int64_t> next_nanoseconds_{0};  ///< when the next line is due
  std::mutex mutex_;
  std::size_t width_ = 0;  ///< of the line that is on the terminal
  Clock::time_point work_begin_{};
  std::uint64_t work_begin_done_ = 0;
};

}  // namespace rthiss::cli
