// What a program of somebody else does with the installed library: public headers only, no internal include path.
#include <rthiss/rthiss.hpp>

#include <cstdio>
#include <string_view>

int main() {
  rthiss::NeighborLists lists;
  lists.begin = rthiss::Array<std::uint64_t>(3, 0);
  lists.begin[1] = lists.begin[2] = 1;
  lists.ids = rthiss::Array<std::uint32_t>(1, 7);
  const bool right = lists.queries() == 2 && lists.pairs() == 1 && lists.row(0)[0] == 7 && lists.row(1).empty() &&
                     rthiss::size_of(rthiss::DType::kFloat64) == 8 &&
                     rthiss::name_of(rthiss::Stage::kRefine) == std::string_view("refine");
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
