// Damaged files of every format: an error that names the file, or points that lie wholly inside it, never a crash.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "io/file_makers.hpp"
#include "io/points_reader.hpp"
#include "io/temporary_folder.hpp"

namespace rthiss::io {
namespace {

using testing::gzip;
using testing::make_idx;
using testing::make_npy;
using testing::make_vecs;

std::string text_of_numbers() {
  std::string text = "first,second,third\n";
  for (int i = 0; i < 12; ++i) text += std::to_string(i * 0.37) + ",-1e" + std::to_string(i) + "," + "7\r\n";
  return text;
}

std::vector<std::pair<std::string, std::string>> good_files() {
  std::string data;
  for (int i = 0; i < 120; ++i) data += static_cast<char>(i);
  const std::string idx = make_idx(8, {6, 4, 5}, data);
  const std::string text = text_of_numbers();
  return {{"c.npy", make_npy("<f4", false, "(6, 5)", data)},
          {"fortran.npy", make_npy(">f8", true, "(5, 3)", data, 2)},
          {"version3.npy", make_npy("|u1", false, "(12, 10)", data, 3)},
          {"x.fvecs", make_vecs(data, 3, 4)},
          {"x.bvecs", make_vecs(data, 10, 1)},
          {"x.ivecs", make_vecs(data, 6, 4)},
          {"bytes-idx3-ubyte", idx},
          {"doubles-idx2", make_idx(14, {5, 3}, data)},
          {"bytes-idx3-ubyte.gz", gzip(idx)},
          {"x.csv", text},
          {"x.txt", "1 2 3\n4 5 6\n7 8 9"},
          {"x.csv.gz", gzip(text.substr(0, 100)) + gzip(text.substr(100))}};
}

// Reads every element, so that a view that reaches outside of its file is seen by AddressSanitizer or the hardware.
std::string outcome(const testing::TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
  const auto path = folder.put(name, bytes);
  std::string elements;
  const std::string error = testing::error_of([&] {
    const PointsFile file = read_points(path);
    EXPECT_GE(file.view().columns, 1u);
    elements = testing::all_elements(file.view());
    // What is read cannot be more than was there; a character of text becomes at most 8 bytes.
    EXPECT_LE(elements.size(), 1032 * 8 * bytes.size());
  });
  if (error != "no error") {
    EXPECT_NE(error.find(name), std::string::npos) << error;
  }
  return error;
}

TEST(Hostile, GoodFilesAreRead) {
  const testing::TemporaryFolder folder;
  for (const auto& [name, bytes] : good_files()) EXPECT_EQ(outcome(folder, name, bytes), "no error") << name;
}

TEST(Hostile, CutAnywhere) {
  const testing::TemporaryFolder folder;
  for (const auto& [name, bytes] : good_files()) {
    const bool is_text = name == "x.csv" || name == "x.txt";
    const bool is_vecs = name.find("vecs") != std::string::npos;
    const std::size_t row = is_vecs ? 4 + static_cast<unsigned char>(bytes[0]) * (name == "x.bvecs" ? 1 : 4) : 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::string error = outcome(folder, name, bytes.substr(0, size));
      // Whole rows of text and vecs files are files themselves, and so is the first member of a .gz file; everything
      // else says its size.
      const bool may_pass = is_text || (is_vecs && size > 0 && size % row == 0) || name == "x.csv.gz";
      EXPECT_TRUE(may_pass || error != "no error") << name << " cut to " << size;
    }
  }
}

TEST(Hostile, ByteFlips) {
  const testing::TemporaryFolder folder;
  std::mt19937 random(20240229);
  for (const auto& [name, bytes] : good_files()) {
    for (int round = 0; round < 400; ++round) {
      std::string damaged = bytes;
      const unsigned flips = 1 + random() % 4;
      // Half of them in the header, where they hurt.
      for (unsigned flip = 0; flip < flips; ++flip) {
        const std::size_t range = random() % 2 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 80);
        damaged[random() % range] = static_cast<char>(random());
      }
      outcome(folder, name, damaged);
    }
  }
}

TEST(Hostile, InsertedAndRemovedPieces) {
  const testing::TemporaryFolder folder;
  std::mt19937 random(77);
  for (const auto& [name, bytes] : good_files()) {
    for (int round = 0; round < 200; ++round) {
      std::string damaged = bytes;
      const std::size_t place = random() % damaged.size();
      if (round % 2 == 0) {
        damaged.erase(place, 1 + random() % 8);
      } else {
        damaged.insert(place, damaged.substr(random() % damaged.size(), 1 + random() % 8));
      }
      outcome(folder, name, damaged);
    }
  }
}

// Everything that fuzzing started from or found, through the whole reader.
TEST(Hostile, FuzzCorpus) {
  const testing::TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::vector<std::string>>> readers = {
      {"npy", {"x.npy"}},
      {"vecs", {"x.fvecs", "x.bvecs", "x.ivecs"}},
      {"idx", {"x-idx"}},
      {"text", {"x.csv"}},
      {"gzip", {"x-idx.gz", "x.csv.gz"}}};
  for (const auto& [reader, names] : readers) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(RTHISS_FUZZ_CORPUS) / reader)) {
      for (const std::string& name : names) outcome(folder, name, testing::contents(entry.path()));
      ++files;
    }
    EXPECT_GT(files, 3u) << reader;
  }
}

}  // namespace
}  // namespace rthiss::io
