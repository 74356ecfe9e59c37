#include "io/npy_header.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "io/input_error.hpp"

namespace rthiss::io {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NamedType {
  std::string_view code;  // without the byte order
  DType dtype;
};
constexpr std::array kTypes = {
    NamedType{"b1", DType::kBool},    NamedType{"i1", DType::kInt8},    NamedType{"u1", DType::kUInt8},
    NamedType{"i2", DType::kInt16},   NamedType{"u2", DType::kUInt16},  NamedType{"i4", DType::kInt32},
    NamedType{"u4", DType::kUInt32},  NamedType{"i8", DType::kInt64},   NamedType{"u8", DType::kUInt64},
    NamedType{"f2", DType::kFloat16}, NamedType{"f4", DType::kFloat32}, NamedType{"f8", DType::kFloat64},
};

std::string_view name_of_refused(std::string_view code) {
  if (code == "c8") return "complex64";
  if (code == "c16") return "complex128";
  if (code.empty()) return "no type";
  switch (code.front()) {
    case 'c':
      return "extended complex";
    case 'f':
      return "extended float";
    case 'O':
      return "object";
    case 'S':
    case 'a':
      return "bytes";
    case 'U':
      return "str";
    case 'M':
      return "datetime64";
    case 'm':
      return "timedelta64";
    case 'V':
      return "void";
    default:
      return "unknown type";
  }
}

/// Walks over the Python literal of the header.
class HeaderText {
 public:
  HeaderText(std::string_view text, std::uint64_t offset, std::string_view path)
      : text_(text), offset_(offset), path_(path) {}

  [[noreturn]] void fail(std::string_view reason) const { refuse_input(path_, offset_ + position_, reason); }

  [[nodiscard]] char peek() {
    while (position_ < text_.size() && is_space(text_[position_])) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted || position_ == text_.size()) return false;
    ++position_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("the header of the .npy file is malformed: '{}' is missing here", wanted));
  }
  [[nodiscard]] bool at_end() {
    static_cast<void>(peek());
    return position_ == text_.size();
  }

  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      fail("the header of the .npy file is malformed: a quoted string is missing here");
    const std::size_t begin = ++position_;
    while (position_ < text_.size() && text_[position_] != quote) {
      if (text_[position_] == '\\' || text_[position_] == '\n') fail("the header of the .npy file holds an escape");
      ++position_;
    }
    if (position_ == text_.size()) fail("the header of the .npy file ends inside a string");
    return text_.substr(begin, position_++ - begin);
  }

  bool boolean() {
    static_cast<void>(peek());
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return value;
      }
    }
    fail("'fortran_order' in the header of the .npy file is neither True nor False");
  }

  std::uint64_t dimension() {
    if (peek() == '-') fail("negative dimension in the shape");
    const std::size_t begin = position_;
    std::uint64_t value = 0;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9'; ++position_) {
      const auto digit = static_cast<std::uint64_t>(text_[position_] - '0');
      if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) || __builtin_add_overflow(value, digit, &value)) {
        position_ = begin;
        fail("a dimension in the shape is beyond 2^64");
      }
    }
    if (position_ == begin) fail("the shape in the header of the .npy file is malformed: an integer is missing here");
    // NumPy under Python 2 wrote long integers so.
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;
    return value;
  }

  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!accept(')')) {
      result.push_back(dimension());
      if (accept(',')) continue;
      // "(5)" is an integer to Python, no tuple.
      if (result.size() < 2) expect(',');
      expect(')');
      break;
    }
    return result;
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  std::string_view text_;
  std::uint64_t offset_;
  std::string_view path_;
  std::size_t position_ = 0;
};

void set_type(std::string_view descr, HeaderText& text, NpyHeader& header) {
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr.front()) != std::string_view::npos;
  const char order = has_order ? descr.front() : '=';
  const std::string_view code = descr.substr(has_order ? 1 : 0);
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const NamedType& t) { return t.code == code; });
  if (type == kTypes.end()) {
    text.fail(
        fmt::format("dtype '{}' ({}) is not accepted; convert the array to one of bool, int8 to int64, uint8 to "
                    "uint64, float16, float32, float64",
                    descr, name_of_refused(code)));
  }
  header.dtype = type->dtype;
  const bool multi_byte = size_of(type->dtype) > 1;
  if (multi_byte && order == '|') text.fail(fmt::format("dtype '{}' does not say its byte order", descr));
  constexpr bool kLittle = std::endian::native == std::endian::little;
  header.byte_swapped = multi_byte && order == (kLittle ? '>' : '<');
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view path) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto byte_at = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(file[i])); };
  if (file.substr(0, kMagic.size()) != kMagic.substr(0, std::min(file.size(), kMagic.size()))) {
    refuse_input(path, 0, "not a .npy file (it does not begin with \\x93NUMPY)");
  }
  if (file.size() < 10) refuse_input(path, file.size(), "the file ends inside the header of a .npy file");
  const std::uint64_t major = byte_at(6);
  if (major < 1 || major > 3 || byte_at(7) != 0) {
    refuse_input(path, 6, fmt::format("version {}.{} of the .npy format is not known", major, byte_at(7)));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = 8 + length_bytes;
  if (file.size() < begin) refuse_input(path, file.size(), "the file ends inside the header of a .npy file");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte_at(8 + i) << (8 * i);
  if (length > file.size() - begin) {
    refuse_input(path, 8,
                 fmt::format("the header claims {} bytes, the file holds {} more", length, file.size() - begin));
  }

  NpyHeader header;
  header.data_offset = begin + length;
  HeaderText text(file.substr(begin, length), begin, path);
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  text.expect('{');
  while (!text.accept('}')) {
    const std::string_view key = text.quoted();
    text.expect(':');
    if (key == "descr" && !has_descr) {
      if (text.peek() == '[') text.fail("a structured dtype is not accepted; save its fields as a plain 2-D array");
      set_type(text.quoted(), text, header);
      has_descr = true;
    } else if (key == "fortran_order" && !has_order) {
      header.fortran_order = text.boolean();
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      header.shape = text.shape();
      has_shape = true;
    } else {
      text.fail(fmt::format("key '{}' in the header of the .npy file is repeated or not known", key));
    }
    if (text.accept(',')) continue;
    text.expect('}');
    break;
  }
  if (!text.at_end()) text.fail("the header of the .npy file goes on after its dictionary");
  for (const auto& [there, key] : {std::pair{has_descr, "descr"}, {has_order, "fortran_order"}, {has_shape, "shape"}}) {
    if (!there) text.fail(fmt::format("key '{}' is missing in the header of the .npy file", key));
  }
  return header;
}

std::string make_npy_header(std::string_view descr, std::span<const std::uint64_t> shape) {
  std::string tuple = "(";
  for (const std::uint64_t size : shape) tuple += fmt::format("{}, ", size);
  if (shape.size() > 1) tuple.resize(tuple.size() - 2);
  if (shape.size() == 1) tuple.pop_back();
  tuple += ')';
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, tuple);
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlignment = 64;
  text.append((kAlignment - (kPrefix + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::string npy_descr(DType dtype) {
  for (const NamedType& type : kTypes) {
    if (type.dtype == dtype) return fmt::format("{}{}", size_of(dtype) == 1 ? '|' : '<', type.code);
  }
  throw UnsupportedError(fmt::format("NumPy has no dtype {}; convert the points to float32 first", name_of(dtype)));
}

}  // namespace rthiss::io
