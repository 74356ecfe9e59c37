#pragma once

#include <nanobind/nanobind.h>
#include <rthiss/observer.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rthiss::python {

namespace nb = nanobind;

/// Where a search reports to: each None or a callable. Called in the thread that called the search, under the GIL.
struct Callbacks {
  nb::object progress;  ///< (stage, batch, batches, work_done, work_total, pairs)
  nb::object log;       ///< (message)
};

/// Work in a thread of its own, so that Python's threads stay free to run, to handle signals and to be told of
/// progress.
class Job final : public Observer, public std::enable_shared_from_this<Job> {
 public:
  using Work = std::function<void(Observer&)>;

  /// Starts `work`. Throws std::runtime_error in a process that was forked after work had begun.
  [[nodiscard]] static std::shared_ptr<Job> start(Work work);

  void progress(const Progress& progress) override;
  void log(std::string_view message) override;
  [[nodiscard]] bool cancelled() const override { return stop_.load(std::memory_order_relaxed); }

  void stop() noexcept { stop_.store(true); }
  /// True once the work has ended and given back what it held.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds time);
  /// To be called once the work has ended, or to leave it to end by itself: waits for nothing.
  void release_thread();
  /// Throws what the work threw.
  void rethrow_error();

  /// Under the GIL: handles signals, then tells what is new. Throws nb::python_error.
  void attend(const Callbacks& callbacks);

 private:
  Job() = default;

  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr error_;
  bool has_news_ = false;
  Progress news_;
  std::vector<std::string> messages_;
  std::thread thread_;
};

/// Runs `work` to its end with the GIL released. After an exception in Python (KeyboardInterrupt, a callback's own) the
/// work is stopped; what does not stop in time is left to end in its thread, its result dropped.
void run(Job::Work work, const Callbacks& callbacks);

/// Stops whatever runs and waits for its end, with the GIL released. At exit.
void stop_all_jobs();

}  // namespace rthiss::python
