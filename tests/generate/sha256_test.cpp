#include "generate/sha256.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace rthiss::generate {
namespace {

std::string digest(std::string_view text) { return sha256_of(text.data(), text.size()); }

// The examples of FIPS 180-4.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeGiveTheSameDigest) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (const std::size_t length : {0u, 1u, 55u, 56u, 57u, 63u, 64u, 65u, 119u, 120u, 128u, 300u}) {
    const std::string_view whole(text.data(), length);
    for (const std::size_t piece : {1u, 7u, 63u, 64u, 65u}) {
      Sha256 pieces;
      for (std::size_t at = 0; at < length; at += piece) pieces.update(text.data() + at, std::min(piece, length - at));
      EXPECT_EQ(pieces.finish(), digest(whole)) << length << ' ' << piece;
    }
  }
}

}  // namespace
}  // namespace rthiss::generate
