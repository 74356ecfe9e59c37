#pragma once

#include <rthiss/array.hpp>
#include <rthiss/errors.hpp>
#include <rthiss/neighbor_lists.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>
#include <rthiss/result_sink.hpp>
#include <rthiss/searcher.hpp>
#include <rthiss/statistics.hpp>
#include <rthiss/version.hpp>
