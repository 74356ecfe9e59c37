#include "common/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <rthiss/errors.hpp>
#include <utility>

#include "common/floating_point_scope.hpp"

#if defined(RTHISS_ANNOTATE_FOR_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace rthiss {

struct ThreadPool::Impl {
  explicit Impl(int threads) : arena(threads) {}
  void poll() const {
    if (interrupted && interrupted()) throw Cancelled();
  }

  tbb::task_arena arena;
  std::function<bool()> interrupted;
};

namespace {

// Parts of a loop between two questions whether to stop: a hundredth of a second of a loop of a few seconds.
constexpr std::size_t kPartsBetweenPolls = 256;

/// Tells ThreadSanitizer the order that oneTBB keeps and that it cannot see: what the caller did before a loop comes
/// before every task of the loop, and the tasks come before what the caller does after it. Nothing in other builds.
class LoopOrder {
 public:
  LoopOrder() { release(); }
  ~LoopOrder() { acquire(); }
  LoopOrder(const LoopOrder&) = delete;
  LoopOrder& operator=(const LoopOrder&) = delete;

  void acquire() {
#if defined(RTHISS_ANNOTATE_FOR_TSAN)
    __tsan_acquire(this);
#endif
  }
  void release() {
#if defined(RTHISS_ANNOTATE_FOR_TSAN)
    __tsan_release(this);
#endif
  }
};

/// Lives as long as one task: its place in the order of its loop, and its floating-point state.
class TaskScope {
 public:
  explicit TaskScope(LoopOrder& order) : order_(order) { order_.acquire(); }
  ~TaskScope() { order_.release(); }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  LoopOrder& order_;
  FloatingPointScope floating_point_;
};

int usable_threads(int wanted) { return wanted > 0 ? wanted : tbb::info::default_concurrency(); }

}  // namespace

ThreadPool::ThreadPool(int threads) : impl_(new Impl(usable_threads(threads))), threads_(usable_threads(threads)) {}

ThreadPool::~ThreadPool() { delete impl_; }

ThreadPool::InterruptScope::InterruptScope(const ThreadPool& pool, std::function<bool()> interrupted) : pool_(pool) {
  pool_.impl_->interrupted = std::move(interrupted);
}

ThreadPool::InterruptScope::~InterruptScope() { pool_.impl_->interrupted = nullptr; }

void ThreadPool::for_ranges(std::size_t begin, std::size_t end, std::size_t grain,
                            const std::function<void(std::size_t, std::size_t)>& body) const {
  if (begin >= end) return;
  const std::size_t part = std::max({std::size_t{1}, grain, (end - begin) / kPartsBetweenPolls});
  LoopOrder order;
  impl_->arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(begin, end, grain),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        const TaskScope scope(order);
                        for (std::size_t first = range.begin(); first < range.end();) {
                          impl_->poll();
                          const std::size_t last = range.end() - first < 2 * part ? range.end() : first + part;
                          body(first, last);
                          first = last;
                        }
                      });
  });
}

void ThreadPool::for_tasks(std::size_t tasks, const std::function<void(std::size_t, int)>& body) const {
  std::atomic<std::size_t> next{0};
  LoopOrder order;
  impl_->arena.execute([&] {
    tbb::parallel_for(
        0, threads_,
        [&](int worker) {
          const TaskScope scope(order);
          for (std::size_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
            try {
              impl_->poll();
              body(task, worker);
            } catch (...) {
              next.store(tasks);  // the other workers stop at their next task
              throw;
            }
          }
        },
        tbb::simple_partitioner());
  });
}

}  // namespace rthiss
