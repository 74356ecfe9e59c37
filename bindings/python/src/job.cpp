#include "job.hpp"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rthiss::python {

namespace {

using std::chrono::milliseconds;

/// How often Python's signals and callbacks get their turn.
constexpr milliseconds kAttention{50};
/// After that an interrupted call returns, whatever the stage that runs.
constexpr milliseconds kGrace{1200};

/// Threads that are not joined yet.
struct Running {
  std::mutex mutex;
  std::vector<std::weak_ptr<Job>> jobs;
  std::vector<std::pair<std::shared_ptr<Job>, std::thread>> released;
  pid_t process = 0;  ///< that started the first; 0: none yet
};

/// Never destroyed: threads may outlive static objects.
Running& running() {
  static auto* const all = new Running;
  return *all;
}

/// The threads of oneTBB do not survive a fork, and locks may be held for ever.
void refuse_after_fork(Running& all) {
  if (all.process == 0) all.process = getpid();
  if (all.process != getpid()) {
    throw std::runtime_error(
        "rthiss was used in this process before it was forked, and its threads do not survive a fork; start processes "
        "with the method 'spawn' or 'forkserver' (multiprocessing.get_context), or use rthiss first in the children");
  }
}

void join_ended(Running& all) {
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.released, [&ended](auto& entry) {
      if (!entry.first->wait_for(milliseconds(0))) return false;
      ended.push_back(std::move(entry.second));
      return true;
    });
    std::erase_if(all.jobs, [](const std::weak_ptr<Job>& job) { return job.expired(); });
  }
  for (std::thread& thread : ended) thread.join();
}

}  // namespace

std::shared_ptr<Job> Job::start(Work work) {
  Running& all = running();
  refuse_after_fork(all);
  join_ended(all);
  const std::shared_ptr<Job> job(new Job);
  {
    const std::lock_guard lock(all.mutex);
    all.jobs.push_back(job);
  }
  job->thread_ = std::thread([job, own = std::move(work)]() mutable {
    std::exception_ptr error;
    try {
      own(*job);
    } catch (...) {
      error = std::current_exception();
    }
    own = nullptr;  // what it holds is given back before the end is announced
    const std::lock_guard lock(job->mutex_);
    job->error_ = error;
    job->done_ = true;
    job->ended_.notify_all();
  });
  return job;
}

void Job::progress(const Progress& progress) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another one is just being noted
  news_ = progress;
  has_news_ = true;
}

void Job::log(std::string_view message) {
  const std::lock_guard lock(mutex_);
  messages_.emplace_back(message);
}

bool Job::wait_for(milliseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [this] { return done_; });
}

void Job::release_thread() {
  Running& all = running();
  if (wait_for(milliseconds(0))) {
    thread_.join();
    return;
  }
  const std::lock_guard lock(all.mutex);
  all.released.emplace_back(shared_from_this(), std::move(thread_));
}

void Job::rethrow_error() {
  if (error_) std::rethrow_exception(error_);
}

void Job::attend(const Callbacks& callbacks) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  std::vector<std::string> messages;
  Progress news;
  bool has_news = false;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(messages_);
    news = news_;
    has_news = std::exchange(has_news_, false);
  }
  if (!callbacks.log.is_none()) {
    for (const std::string& message : messages) callbacks.log(message.c_str());
  }
  if (has_news && !callbacks.progress.is_none()) {
    const std::string stage(name_of(news.stage));
    callbacks.progress(stage.c_str(), news.batch, news.batches, news.work_done, news.work_total, news.pairs);
  }
}

void run(Job::Work work, const Callbacks& callbacks) {
  const std::shared_ptr<Job> job = Job::start(std::move(work));
  try {
    for (bool done = false; !done;) {
      {
        const nb::gil_scoped_release released;
        done = job->wait_for(kAttention);
      }
      job->attend(callbacks);
    }
  } catch (...) {
    job->stop();
    const nb::gil_scoped_release released;
    (void)job->wait_for(kGrace);
    job->release_thread();
    throw;
  }
  {
    const nb::gil_scoped_release released;
    job->release_thread();
  }
  job->rethrow_error();
}

void stop_all_jobs() {
  const nb::gil_scoped_release released;
  Running& all = running();
  if (all.process != getpid()) return;
  std::vector<std::shared_ptr<Job>> jobs;
  {
    const std::lock_guard lock(all.mutex);
    for (const std::weak_ptr<Job>& job : all.jobs) {
      if (std::shared_ptr<Job> alive = job.lock()) jobs.push_back(std::move(alive));
    }
  }
  for (const std::shared_ptr<Job>& job : jobs) {
    job->stop();
    while (!job->wait_for(kGrace)) {
    }
  }
  jobs.clear();
  join_ended(all);
}

}  // namespace rthiss::python
