#pragma once

#include <nanobind/nanobind.h>

namespace rthiss::python {

/// Adds `knn`, `dbscan`, `connected_components` and `near_duplicates`, each of a `SearchIndex`.
void bind_analyses(nanobind::module_& module);

}  // namespace rthiss::python
