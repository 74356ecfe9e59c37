#pragma once

#include <rthiss/array.hpp>
#include <rthiss/clustering.hpp>
#include <rthiss/errors.hpp>
#include <rthiss/knn.hpp>
#include <rthiss/near_duplicates.hpp>
#include <rthiss/neighbor_lists.hpp>
#include <rthiss/neighborhood.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>
#include <rthiss/radius_estimate.hpp>
#include <rthiss/result_sink.hpp>
#include <rthiss/searcher.hpp>
#include <rthiss/statistics.hpp>
#include <rthiss/version.hpp>
