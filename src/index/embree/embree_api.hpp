#pragma once

// The one place that knows which Embree this is. Tested with Embree 3.13; what is used of Embree 4 has the same names
// and types, but has not been tested.
#if RTHISS_EMBREE_MAJOR >= 4
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif
