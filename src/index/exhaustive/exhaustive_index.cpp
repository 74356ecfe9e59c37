#include "index/exhaustive/exhaustive_index.hpp"

#include <rthiss/array.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/parallel.hpp"
#include "index/allowed_groups.hpp"

namespace rthiss {
namespace {

class ExhaustiveIndex final : public GroupIndex {
 public:
  [[nodiscard]] std::string describe() const override { return "exhaustive: every group is a candidate"; }

  void build(const GroupBounds& bounds, const CandidateTest&, const ThreadPool&) override {
    ids_ = Array<std::uint32_t>(bounds.groups);
    std::iota(ids_.begin(), ids_.end(), 0u);
  }

  void visit(const CandidateRange& range, const ThreadPool& pool, const Visitor& visitor) const override {
    check_range(range, ids_.size(), 0);
    const std::size_t blocks = range.block_end - range.block_begin;
    const std::size_t chunk = blocks_per_task(blocks, pool.threads());
    std::vector<Scratch> scratch(static_cast<std::size_t>(pool.threads()));
    pool.for_tasks((blocks + chunk - 1) / chunk, [&](std::size_t task, int worker) {
      const std::size_t end = std::min(blocks, (task + 1) * chunk);
      for (std::size_t i = task * chunk; i < end; ++i) {
        const auto block = static_cast<std::uint32_t>(range.block_begin + i);
        visitor(block, groups_of(range, block, scratch[static_cast<std::size_t>(worker)]), worker);
      }
    });
  }

  [[nodiscard]] std::uint64_t estimated_bytes(std::size_t groups, std::size_t) const override {
    return groups * sizeof(std::uint32_t);
  }

 private:
  struct Scratch {
    OpenGroups open;
    Array<std::uint32_t> ids;
  };

  /// One interval is a part of the table of all ids; several have to be joined.
  [[nodiscard]] std::span<const std::uint32_t> groups_of(const CandidateRange& range, std::uint32_t block,
                                                         Scratch& scratch) const {
    const std::span<const GroupInterval> parts = scratch.open.find(range, block);
    if (parts.empty()) return {};
    if (parts.size() == 1) return ids_.span().subspan(parts[0].begin, parts[0].end - parts[0].begin);
    if (scratch.ids.empty()) scratch.ids = Array<std::uint32_t>(ids_.size());
    std::uint32_t* end = scratch.ids.data();
    for (const GroupInterval part : parts) end = std::copy(&ids_[part.begin], ids_.data() + part.end, end);
    return {scratch.ids.data(), end};
  }

  Array<std::uint32_t> ids_;
};

}  // namespace

std::unique_ptr<GroupIndex> make_exhaustive_index() { return std::make_unique<ExhaustiveIndex>(); }

}  // namespace rthiss
