#pragma once

#include <rthiss/array.hpp>
#include <rthiss/result_sink.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rthiss {

/// The greedy choice by ascending id: a row is kept unless a kept row with a lower id is its neighbour. Rows come in
/// any order and are not kept in memory; what cannot be decided when it comes waits, if there is room, with the lower
/// neighbours that are open. Memory: 1 byte a row, and `room` numbers of 4 bytes, 8 bytes for each waiting row.
class KeepList {
 public:
  /// `room`: how many open neighbours may wait.
  KeepList(std::size_t rows, std::size_t room);

  /// Rows of a self-join without self pairs. To be followed by `settle` when all open rows have come.
  void add(const NeighborChunk& chunk);
  /// Decides what waits. At least the lowest open row is decided.
  void settle();

  /// Rows whose neighbours must come again, ascending.
  [[nodiscard]] std::vector<std::uint32_t> open() const;
  /// Rows to keep, ascending; once no row is open.
  [[nodiscard]] Array<std::uint32_t> kept() const;

 private:
  enum class State : std::uint8_t { kOpen, kKept, kDropped };
  struct Waiting {
    std::uint32_t row;
    std::size_t end;  // of its open neighbours in waiting_for_
  };

  Array<State> states_;
  std::size_t room_;
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> waiting_for_;
};

}  // namespace rthiss
