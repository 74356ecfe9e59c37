#pragma once

#include <cstddef>
#include <functional>

namespace rthiss {

/// Worker threads of one search. Wraps oneTBB so that nothing else includes it, and puts every task under a
/// `FloatingPointScope` (docs/exactness.md, floating-point environment). Exceptions of a task reach the caller.
class ThreadPool {
 public:
  /// `threads` <= 0: as many as the process may run on.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// While it lives, every loop of the pool asks `interrupted` before each part of its work, and ends with `Cancelled`
  /// once that says yes. `interrupted` is called from worker threads, several at once. One at a time for a pool.
  class InterruptScope {
   public:
    InterruptScope(const ThreadPool& pool, std::function<bool()> interrupted);
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

   private:
    const ThreadPool& pool_;
  };

  /// Calls `body(begin, end)` on parts of [begin, end), each of at least `grain` items where that many are left.
  void for_ranges(std::size_t begin, std::size_t end, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body) const;

  /// Calls `body(task, worker)` once for each task in [0, tasks); tasks start in ascending order, so that sorting
  /// them by falling cost balances the load. `worker` in [0, threads()) names per-worker scratch.
  void for_tasks(std::size_t tasks, const std::function<void(std::size_t, int)>& body) const;

 private:
  struct Impl;
  Impl* impl_;
  int threads_;
};

}  // namespace rthiss
