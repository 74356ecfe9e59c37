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
    std::vector<Array<std::uint32_t>> scratch(static_cast<std::size_t>(pool.threads()));
    pool.for_tasks((blocks + chunk - 1) / chunk, [&](std::size_t task, int worker) {
      const std::size_t end = std::min(blocks, (task + 1) * chunk);
      for (std::size_t i = task * chunk; i < end; ++i) {
        const auto block = static_cast<std::uint32_t>(range.block_begin + i);
        visitor(block, groups_of(allowed_groups(range, block), scratch[static_cast<std::size_t>(worker)]), worker);
      }
    });
  }

  [[nodiscard]] std::uint64_t estimated_bytes(std::size_t groups, std::size_t) const override {
    return groups * sizeof(std::uint32_t);
  }

 private:
  /// One interval is a part of the table of all ids; two have to be joined.
  [[nodiscard]] std::span<const std::uint32_t> groups_of(const AllowedGroups& allowed,
                                                         Array<std::uint32_t>& scratch) const {
    const auto [first, second] = allowed.parts;
    const auto span_of = [&](AllowedGroups::Interval part) {
      return part.empty() ? std::span<const std::uint32_t>() : ids_.span().subspan(part.begin, part.end - part.begin);
    };
    if (first.empty()) return span_of(second);
    if (second.empty()) return span_of(first);
    if (scratch.empty()) scratch = Array<std::uint32_t>(ids_.size());
    std::uint32_t* end = std::copy(&ids_[first.begin], ids_.data() + first.end, scratch.data());
    end = std::copy(&ids_[second.begin], ids_.data() + second.end, end);
    return {scratch.data(), end};
  }

  Array<std::uint32_t> ids_;
};

}  // namespace

std::unique_ptr<GroupIndex> make_exhaustive_index() { return std::make_unique<ExhaustiveIndex>(); }

}  // namespace rthiss
