#include "engine/cuda/hierarchy_index.hpp"

#include "engine/cuda/direct_join.hpp"

namespace rthiss::cuda {

namespace {

class HierarchyIndex final : public DeviceIndex {
 public:
  HierarchyIndex(const CandidateSets& sets, const CandidateTest& test, std::uint32_t components, bool blocks_are_groups,
                 DeviceMemory& memory, Stream stream)
      : sets_(sets),
        threshold_(test, components),
        group_tree_(build_hierarchy(sets.groups, test, components, memory, stream)),
        blocks_are_groups_(blocks_are_groups) {
    if (sets.by_query || blocks_are_groups) return;
    CandidateTest test_of_blocks = test;
    test_of_blocks.sphere_boxes = false;
    block_tree_ = build_hierarchy(sets.blocks, test_of_blocks, components, memory, stream);
  }

  void count_by_block(std::uint32_t* counts, DeviceMemory& /*memory*/, Stream stream) const override {
    count_near(sets_.blocks, group_tree_, threshold_, {0, sets_.blocks.count, 0, sets_.groups.count}, counts, nullptr,
               stream);
  }

  void count_by_group(const TraversalRange& range, std::uint32_t* counts, CandidateMarks& /*marks*/,
                      DeviceMemory& memory, Stream stream) const override {
    if (!sets_.by_query) {
      count_near(sets_.groups, block_tree(), threshold_, range, counts + range.driver_begin, nullptr, stream);
      return;
    }
    DeviceArray<std::uint32_t> per_query(memory, range.target_end - range.target_begin, stream,
                                         "the counts of queries");
    count_near(sets_.blocks, group_tree_, threshold_, queries_of(range), per_query.data(), counts, stream);
  }

  void fill(const TraversalRange& range, const ListPlaces& places, const CandidateMarks& /*marks*/,
            DeviceMemory& /*memory*/, Stream stream) const override {
    if (!sets_.by_query) {
      list_near(sets_.groups, block_tree(), threshold_, range, places.cursor + range.driver_begin, places.block_ids,
                stream);
      return;
    }
    list_near_by_target(sets_.blocks, group_tree_, threshold_, queries_of(range), places.cursor, places.block_ids,
                        stream);
  }

  void join_directly(const DirectPass& pass, DeviceMemory& /*memory*/, Stream stream) const override {
    traverse_directly(pass, group_tree_, threshold_, stream);
  }

  std::uint64_t bytes_per_block() const override { return 0; }

 private:
  [[nodiscard]] const Hierarchy& block_tree() const { return blocks_are_groups_ ? group_tree_ : block_tree_; }
  [[nodiscard]] static TraversalRange queries_of(const TraversalRange& range) {
    return {range.target_begin, range.target_end, range.driver_begin, range.driver_end};
  }

  CandidateSets sets_;
  CandidateThreshold threshold_;
  Hierarchy group_tree_, block_tree_;
  bool blocks_are_groups_;
};

}  // namespace

std::unique_ptr<DeviceIndex> make_hierarchy_index(const CandidateSets& sets, const CandidateTest& test,
                                                  std::uint32_t components, bool blocks_are_groups,
                                                  DeviceMemory& memory, Stream stream) {
  return std::make_unique<HierarchyIndex>(sets, test, components, blocks_are_groups, memory, stream);
}

}  // namespace rthiss::cuda
