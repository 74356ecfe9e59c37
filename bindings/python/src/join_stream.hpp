#pragma once

#include <rthiss/options.hpp>
#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <memory>

#include "job.hpp"
#include "owned_neighborhood.hpp"
#include "points.hpp"

namespace rthiss::python {

/// A self-join whose result is handed out in blocks of complete rows while it runs. At most two finished blocks wait.
class JoinStream {
 public:
  JoinStream(Points points, SearchOptions options, OwnedNeighborhood neighborhood);
  ~JoinStream();
  JoinStream(JoinStream&&) noexcept = default;
  JoinStream& operator=(JoinStream&&) = delete;

  /// (row ids, indptr, indices, distances) of the next block, or None after the last. Throws what the join threw.
  [[nodiscard]] nb::object next(const Callbacks& callbacks);
  /// Stops the join and forgets what waits.
  void close();

 private:
  struct Channel;

  std::uint64_t points_;
  bool distances_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<Job> job_;
};

}  // namespace rthiss::python
