#include "analysis/keep_list.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace rthiss {

KeepList::KeepList(std::size_t rows, std::size_t room) : states_(rows, State::kOpen), room_(room) {}

void KeepList::add(const NeighborChunk& chunk) {
  // Rows of a chunk ascend, so that many lower neighbours are decided already.
  for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
    const std::uint32_t row = chunk.query_ids[r];
    const std::size_t before = waiting_for_.size();
    State state = State::kKept;
    for (std::uint64_t at = chunk.row_begin[r]; at < chunk.row_begin[r + 1]; ++at) {
      const std::uint32_t lower = chunk.neighbor_ids[at];
      if (lower >= row) break;
      if (states_[lower] == State::kKept) {
        state = State::kDropped;
        break;
      }
      if (states_[lower] != State::kOpen) continue;
      state = State::kOpen;
      // One more than there is room for says that there was none.
      if (waiting_for_.size() <= room_) waiting_for_.push_back(lower);
    }
    states_[row] = state;
    if (state == State::kOpen && waiting_for_.size() <= room_) {
      waiting_.push_back({row, waiting_for_.size()});
    } else {
      waiting_for_.resize(before);
    }
  }
}

void KeepList::settle() {
  std::vector<std::size_t> order(waiting_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [this](std::size_t a, std::size_t b) { return waiting_[a].row < waiting_[b].row; });
  for (const std::size_t i : order) {
    const std::size_t begin = i == 0 ? 0 : waiting_[i - 1].end;
    const std::span<const std::uint32_t> lower(waiting_for_.data() + begin, waiting_[i].end - begin);
    State state = State::kKept;
    for (const std::uint32_t neighbor : lower) {
      if (states_[neighbor] == State::kKept) {
        state = State::kDropped;
        break;
      }
      if (states_[neighbor] == State::kOpen) state = State::kOpen;  // had no room
    }
    states_[waiting_[i].row] = state;
  }
  waiting_.clear();
  waiting_for_.clear();
}

std::vector<std::uint32_t> KeepList::open() const {
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] == State::kOpen) rows.push_back(static_cast<std::uint32_t>(i));
  }
  return rows;
}

Array<std::uint32_t> KeepList::kept() const {
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] == State::kKept) rows.push_back(static_cast<std::uint32_t>(i));
  }
  return Array<std::uint32_t>(std::span<const std::uint32_t>(rows));
}

}  // namespace rthiss
