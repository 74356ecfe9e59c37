#pragma once

#include <rthiss/points_view.hpp>

#include <filesystem>
#include <string_view>

namespace rthiss::io {

/// Writes points [rows x columns] so that read_points() gives the same values back; the file appears under its name
/// only when it is complete (OutputFile). `format` is one of the following, or empty: by the extension.
/// - "npy" (.npy): C order, the dtype of the view, little-endian, every bit kept; not bfloat16.
/// - "fvecs", "bvecs", "ivecs": values of any dtype that float32, uint8 or int32 holds exactly.
/// - "csv" (.csv, .txt): comma-separated, the shortest decimal number that reads back as the same float64; without a
///   header, except that no rows are written as a header alone ("x0,x1,...").
///
/// Throws InvalidArgument: an unknown format, no columns, a value that the format cannot hold (row and column), no rows
/// for the vecs formats (they would lose the number of columns). UnsupportedError: bfloat16 as npy. IoError: see
/// OutputFile.
void write_points(const PointsView& points, const std::filesystem::path& path, std::string_view format = {});

}  // namespace rthiss::io
