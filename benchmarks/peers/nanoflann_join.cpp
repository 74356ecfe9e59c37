// Self-join of one .npy file by nanoflann's kd-tree, for run_peers.py.
//
//   nanoflann_join FILE.npy RADIUS THREADS LEAF_SIZE [RESULT_PREFIX]
//
// FILE.npy: n x d, float32 or float64, C order, little endian; searched in its own type. RADIUS is the plain distance;
// nanoflann compares squared distances with `<`, so the square is handed over in the type of the data. Prints one JSON
// object with the seconds of tree and queries (reading the file and writing the result are not in them) and the pairs
// found, self pairs included. With RESULT_PREFIX the lists are written as PREFIX.indptr (n + 1 int64) and
// PREFIX.indices (uint32, order as found).

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nanoflann.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kQueriesPerTask = 64;

struct NpyHeader {
  std::string dtype;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

template <typename T>
class PointTable {
 public:
  PointTable(std::vector<T> values, std::size_t rows, std::size_t columns)
      : values_(std::move(values)), rows_(rows), columns_(columns) {}
  [[nodiscard]] std::size_t kdtree_get_point_count() const { return rows_; }
  [[nodiscard]] T kdtree_get_pt(std::size_t row, std::size_t column) const { return values_[row * columns_ + column]; }
  template <typename Box>
  [[nodiscard]] bool kdtree_get_bbox(Box&) const {
    return false;
  }
  [[nodiscard]] const T* row(std::size_t index) const { return values_.data() + index * columns_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }

 private:
  std::vector<T> values_;
  std::size_t rows_;
  std::size_t columns_;
};

// Appends ids only: nanoflann's own RadiusResultSet would store twice as many bytes, and the join asks for ids.
template <typename T>
class IdCollector {
 public:
  IdCollector(T squared_radius, std::vector<std::uint32_t>& ids) : squared_radius_(squared_radius), ids_(ids) {}
  [[nodiscard]] bool full() const { return true; }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] T worstDist() const { return squared_radius_; }
  bool addPoint(T squared_distance, std::uint32_t id) {
    if (squared_distance < squared_radius_) ids_.push_back(id);
    return true;
  }

 private:
  T squared_radius_;
  std::vector<std::uint32_t>& ids_;
};

// The neighbours of kQueriesPerTask consecutive queries.
struct TaskResult {
  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> ends;
};

NpyHeader read_npy_header(std::ifstream& file, const std::string& path) {
  char fixed[8];
  if (!file.read(fixed, sizeof fixed) || std::memcmp(fixed, "\x93NUMPY", 6) != 0) {
    throw std::runtime_error(path + ": not an .npy file");
  }
  std::uint32_t length = 0;
  if (!file.read(reinterpret_cast<char*>(&length), fixed[6] == 1 ? 2 : 4)) {
    throw std::runtime_error(path + ": the header is cut off");
  }
  std::string text(length, ' ');
  if (!file.read(text.data(), length)) throw std::runtime_error(path + ": the header is cut off");
  if (text.find("'fortran_order': False") == std::string::npos) {
    throw std::runtime_error(path + ": only C order is read here; numpy.ascontiguousarray makes it so");
  }
  const auto type = text.find("'descr': '");
  const auto shape = text.find("'shape': (");
  if (type == std::string::npos || shape == std::string::npos) {
    throw std::runtime_error(path + ": the header names no plain dtype and shape");
  }
  NpyHeader header;
  header.dtype = text.substr(type + 10, 3);
  char* after_rows = nullptr;
  header.rows = std::strtoull(text.c_str() + shape + 10, &after_rows, 10);
  header.columns = std::strtoull(after_rows + 1, nullptr, 10);
  if (header.columns == 0) throw std::runtime_error(path + ": the shape must be rows x columns with columns above 0");
  return header;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void write_lists(const std::string& prefix, const std::vector<TaskResult>& results) {
  std::ofstream indptr(prefix + ".indptr", std::ios::binary);
  std::ofstream indices(prefix + ".indices", std::ios::binary);
  std::int64_t before = 0;
  indptr.write(reinterpret_cast<const char*>(&before), sizeof before);
  for (const TaskResult& result : results) {
    for (const std::size_t end : result.ends) {
      const std::int64_t entry = before + static_cast<std::int64_t>(end);
      indptr.write(reinterpret_cast<const char*>(&entry), sizeof entry);
    }
    before += static_cast<std::int64_t>(result.ids.size());
    indices.write(reinterpret_cast<const char*>(result.ids.data()),
                  static_cast<std::streamsize>(result.ids.size() * sizeof(std::uint32_t)));
  }
  indptr.flush();
  indices.flush();
  if (!indptr || !indices) throw std::runtime_error(prefix + ": cannot write the lists");
}

template <typename T>
void join(std::ifstream& file, const std::string& path, const NpyHeader& header, double radius, unsigned threads,
          std::size_t leaf_size, const std::string& prefix) {
  using Table = PointTable<T>;
  using Metric = nanoflann::L2_Adaptor<T, Table, T, std::uint32_t>;
  using Tree = nanoflann::KDTreeSingleIndexAdaptor<Metric, Table, -1, std::uint32_t>;

  std::vector<T> values(header.rows * header.columns);
  if (!file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)))) {
    throw std::runtime_error(path + ": fewer values than the header says");
  }
  const Table table(std::move(values), header.rows, header.columns);
  const T squared_radius = static_cast<T>(radius * radius);

  const auto start = std::chrono::steady_clock::now();
  const Tree tree(static_cast<int>(header.columns), table, nanoflann::KDTreeSingleIndexAdaptorParams(leaf_size));
  const double build_seconds = seconds_since(start);

  std::vector<TaskResult> results((header.rows + kQueriesPerTask - 1) / kQueriesPerTask);
  std::atomic<std::size_t> next_task{0};
  const auto work = [&] {
    const nanoflann::SearchParams unsorted(0, 0.0F, false);
    for (std::size_t task = next_task++; task < results.size(); task = next_task++) {
      TaskResult& result = results[task];
      const std::size_t last = std::min(header.rows, (task + 1) * kQueriesPerTask);
      IdCollector<T> collector(squared_radius, result.ids);
      for (std::size_t query = task * kQueriesPerTask; query < last; ++query) {
        tree.findNeighbors(collector, table.row(query), unsorted);
        result.ends.push_back(result.ids.size());
      }
    }
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  const double total_seconds = seconds_since(start);

  std::size_t pairs = 0;
  for (const TaskResult& result : results) pairs += result.ids.size();
  std::cout.precision(9);
  std::cout << "{\"build_seconds\": " << build_seconds << ", \"total_seconds\": " << total_seconds
            << ", \"pairs_with_self\": " << pairs << ", \"version\": \"" << (NANOFLANN_VERSION >> 8) << '.'
            << ((NANOFLANN_VERSION >> 4) & 15) << '.' << (NANOFLANN_VERSION & 15) << "\"}\n";
  if (!prefix.empty()) write_lists(prefix, results);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::cerr << "usage: nanoflann_join FILE.npy RADIUS THREADS LEAF_SIZE [RESULT_PREFIX]\n";
    return 2;
  }
  try {
    const std::string path = argv[1];
    const double radius = std::stod(argv[2]);
    const auto threads = static_cast<unsigned>(std::max(1, std::stoi(argv[3])));
    const auto leaf_size = static_cast<std::size_t>(std::max(1, std::stoi(argv[4])));
    const std::string prefix = argc == 6 ? argv[5] : "";
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path + ": cannot be opened");
    const NpyHeader header = read_npy_header(file, path);
    if (header.dtype == "<f4") {
      join<float>(file, path, header, radius, threads, leaf_size, prefix);
    } else if (header.dtype == "<f8") {
      join<double>(file, path, header, radius, threads, leaf_size, prefix);
    } else {
      throw std::runtime_error(path + ": dtype " + header.dtype + "; float32 or float64 is needed");
    }
  } catch (const std::exception& error) {
    std::cerr << "nanoflann_join: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
