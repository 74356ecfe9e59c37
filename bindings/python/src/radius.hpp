#pragma once

#include <nanobind/nanobind.h>

namespace rthiss::python {

/// Adds `estimate_radius`.
void bind_radius(nanobind::module_& module);

}  // namespace rthiss::python
