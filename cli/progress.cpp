#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "interruption.hpp"
#include "number_text.hpp"

namespace rthiss::cli {

namespace {

using namespace std::chrono_literals;

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

ProgressLine::ProgressLine(ProgressMode mode) : terminal_(isatty(STDERR_FILENO) == 1) {
  shown_ = mode == ProgressMode::kOn || (mode == ProgressMode::kAuto && terminal_);
}

ProgressLine::~ProgressLine() { clear(); }

bool ProgressLine::cancelled() const { return interrupting_signal() != 0; }

bool ProgressLine::is_due() noexcept {
  const std::int64_t now = Clock::now().time_since_epoch() / 1ns;
  std::int64_t due = next_nanoseconds_.load(std::memory_order_relaxed);
  const auto pause = terminal_ ? 100ms : 2000ms;
  return now >= due && next_nanoseconds_.compare_exchange_strong(due, now + pause / 1ns);
}

void ProgressLine::stage_begin(Stage stage) {
  if (!shown_ || !is_due()) return;
  const std::lock_guard lock(mutex_);
  show(std::string(name_of(stage)));
}

void ProgressLine::progress(const Progress& progress) {
  if (!shown_) return;
  {
    const std::lock_guard lock(mutex_);
    if (work_begin_ == Clock::time_point{}) {
      work_begin_ = Clock::now();
      work_begin_done_ = progress.work_done;
    }
  }
  if (!is_due()) return;
  const std::lock_guard lock(mutex_);
  show(describe(progress));
}

std::string ProgressLine::describe(const Progress& progress) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - work_begin_).count();
  std::string text(name_of(progress.stage));
  if (progress.batches > 1) text += fmt::format("  batch {}/{}", progress.batch + 1, progress.batches);
  text += fmt::format("  {} pairs", with_commas(progress.pairs));
  if (elapsed > 0) text += fmt::format("  {:.3g} M/s", static_cast<double>(progress.pairs) / elapsed * 1e-6);
  if (progress.work_total > 0) {
    const double total = static_cast<double>(progress.work_total);
    const double done = std::min(total, static_cast<double>(progress.work_done));
    text += fmt::format("  {:.0f} %", 100 * done / total);
    const double since = done - static_cast<double>(work_begin_done_);
    if (since > 0 && elapsed > 0.2) text += fmt::format("  {} left", time_text((total - done) / since * elapsed));
  }
  return text;
}

void ProgressLine::log(std::string_view message) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  clear();
  fmt::print(stderr, "rthiss: {}\n", message);
}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) {
    fmt::print(stderr, "rthiss: {}\n", text);
    return;
  }
  fmt::print(stderr, "\r{:<{}}", text, width_);
  std::fflush(stderr);
  width_ = text.size();
}

void ProgressLine::clear() {
  if (width_ == 0) return;
  fmt::print(stderr, "\r{:{}}\r", "", width_);
  std::fflush(stderr);
  width_ = 0;
}

}  // namespace rthiss::cli
