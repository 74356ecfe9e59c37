#pragma once

#include <rthiss/result_sink.hpp>

#include <functional>
#include <utility>

#include "result/chunk_check.hpp"

namespace rthiss {

/// Hands every chunk to a function as soon as it is there, in the order of arrival. What the function throws ends the
/// search and reaches its caller.
class CallbackSink final : public ResultSink {
 public:
  using Callback = std::function<void(NeighborChunk&&)>;
  explicit CallbackSink(Callback callback) : callback_(std::move(callback)) {}

  void begin(const ResultShape& shape) override { check_.begin(shape); }
  void consume(NeighborChunk&& chunk) override {
    check_.accept(chunk);
    callback_(std::move(chunk));
  }
  void finish() override { check_.finish(); }

 private:
  Callback callback_;
  ChunkCheck check_;
};

}  // namespace rthiss
