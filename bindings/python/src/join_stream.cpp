#include "join_stream.hpp"

#include <rthiss/errors.hpp>
#include <rthiss/searcher.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "results.hpp"

namespace rthiss::python {

namespace {
constexpr std::size_t kWaitingBlocks = 2;
constexpr std::chrono::milliseconds kAttention{50};
}  // namespace

/// Between the thread that joins and the one that reads.
struct JoinStream::Channel {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<NeighborChunk> blocks;
  bool ended = false;
};

namespace {

/// Waits while enough blocks are there.
template <typename Channel>
class ChannelSink final : public ResultSink {
 public:
  ChannelSink(Channel& channel, const Observer& observer) : channel_(channel), observer_(observer) {}

  void consume(NeighborChunk&& chunk) override {
    if (chunk.query_ids.empty()) return;
    std::unique_lock lock(channel_.mutex);
    while (channel_.blocks.size() >= kWaitingBlocks) {
      if (observer_.cancelled()) throw Cancelled();
      channel_.changed.wait_for(lock, kAttention);
    }
    channel_.blocks.push_back(std::move(chunk));
    channel_.changed.notify_all();
  }

 private:
  Channel& channel_;
  const Observer& observer_;
};

}  // namespace

JoinStream::JoinStream(Points points, SearchOptions options, OwnedNeighborhood neighborhood)
    : points_(points.view.rows), distances_(options.distances), channel_(std::make_shared<Channel>()) {
  job_ = Job::start([points = std::move(points), options = std::move(options), neighborhood = std::move(neighborhood),
                     channel = channel_](Observer& observer) {
    struct AnnounceEnd {
      Channel& channel;
      ~AnnounceEnd() {
        const std::lock_guard lock(channel.mutex);
        channel.ended = true;
        channel.changed.notify_all();
      }
    };
    const AnnounceEnd end{*channel};
    Searcher searcher(points.view, options);
    ChannelSink<Channel> sink(*channel, observer);
    searcher.self_join(neighborhood.view(), sink, &observer);
  });
}

JoinStream::~JoinStream() { close(); }

nb::object JoinStream::next(const Callbacks& callbacks) {
  while (job_ != nullptr) {
    std::deque<NeighborChunk> first;
    bool ended = false;
    {
      const nb::gil_scoped_release released;
      std::unique_lock lock(channel_->mutex);
      channel_->changed.wait_for(lock, kAttention, [this] { return !channel_->blocks.empty() || channel_->ended; });
      if (!channel_->blocks.empty()) {
        first.push_back(std::move(channel_->blocks.front()));
        channel_->blocks.pop_front();
        channel_->changed.notify_all();
      } else {
        ended = channel_->ended;
      }
    }
    job_->attend(callbacks);
    if (!first.empty()) return to_python(std::move(first.front()), points_, distances_);
    if (!ended) continue;
    const std::shared_ptr<Job> job = std::move(job_);
    {
      const nb::gil_scoped_release released;
      while (!job->wait_for(kAttention)) {
      }
      job->release_thread();
    }
    job->rethrow_error();
  }
  return nb::none();
}

void JoinStream::close() {
  if (job_ == nullptr) return;
  const std::shared_ptr<Job> job = std::move(job_);
  job->stop();
  const nb::gil_scoped_release released;
  {
    const std::lock_guard lock(channel_->mutex);
    channel_->blocks.clear();
  }
  job->release_thread();
}

}  // namespace rthiss::python
