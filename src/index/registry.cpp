#include "index/registry.hpp"

#include <rthiss/errors.hpp>

#include <string>

#include "index/bvh/bvh_index.hpp"
#include "index/exhaustive/exhaustive_index.hpp"
#if defined(RTHISS_HAVE_EMBREE)
#include "index/embree/embree_index.hpp"
#endif

namespace rthiss {
namespace {

struct Entry {
  Availability availability;
  std::unique_ptr<GroupIndex> (*make)();  ///< null: not built
};

std::vector<Entry> entries() {
  std::vector<Entry> all;
  all.push_back({{"exhaustive", true, "every group is a candidate"}, make_exhaustive_index});
  all.push_back({{"bvh", true, "16-ary hierarchy over boxes in any number of components"}, make_bvh_index});
#if defined(RTHISS_HAVE_EMBREE)
  all.push_back({{"embree", true, embree_version()}, make_embree_index});
#else
  all.push_back({{"embree", false,
                  "not built: install Embree 3 or 4 (Debian, Ubuntu: libembree-dev) and configure with "
                  "-DRTHISS_WITH_EMBREE=ON"},
                 nullptr});
#endif
  return all;
}

}  // namespace

std::unique_ptr<GroupIndex> make_index(std::string_view name) {
  std::string usable;
  for (const Entry& entry : entries()) {
    if (entry.availability.name == name && entry.make != nullptr) return entry.make();
    if (entry.make == nullptr) continue;
    if (!usable.empty()) usable += ", ";
    usable += entry.availability.name;
  }
  for (const Entry& entry : entries()) {
    if (entry.availability.name == name) {
      throw UnsupportedError("index '" + entry.availability.name + "': " + entry.availability.detail +
                             "; usable here: " + usable);
    }
  }
  throw InvalidArgument("index '" + std::string(name) + "' is unknown; usable here: " + usable);
}

std::vector<Availability> index_availability() {
  std::vector<Availability> list;
  for (Entry& entry : entries()) list.push_back(std::move(entry.availability));
  return list;
}

}  // namespace rthiss
