#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/floating_point_scope.hpp"
#include "io/formats.hpp"

namespace rthiss::io {

namespace {

enum class NumberError { kNone, kNotANumber, kOverflow };

struct ParsedNumber {
  const char* end;
  NumberError error;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a decimal number that float64 cannot hold is too small rather than too large: the place of its first
// significant digit decides, since the two are hundreds of decimal places apart.
bool is_tiny(const char* p, const char* end) {
  long long place = 0;
  bool point = false;
  bool significant = false;
  for (; p != end && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') point = true;
    if (!is_digit(*p)) continue;
    significant = significant || *p != '0';
    if (significant && !point) ++place;
    if (!significant && point) --place;
  }
  if (p == end) return place < 0;
  ++p;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  long long exponent = 0;
  for (; p != end; ++p) exponent = std::min(exponent * 10 + (*p - '0'), 1'000'000'000'000'000LL);
  return place + (negative ? -exponent : exponent) < 0;
}

ParsedNumber parse_number(const char* begin, const char* end, double& value) {
  const char* digits = begin;
  if (end - begin > 1 && *begin == '+' && begin[1] != '-') ++digits;
  const auto [stop, error] = std::from_chars(digits, end, value);
  if (error == std::errc{}) return {stop, NumberError::kNone};
  if (error != std::errc::result_out_of_range) return {begin, NumberError::kNotANumber};
  if (!is_tiny(digits, stop)) return {stop, NumberError::kOverflow};
  value = *digits == '-' ? -0.0 : 0.0;
  return {stop, NumberError::kNone};
}

struct Line {
  const char* begin;
  const char* end;  // without line feed and carriage return
  std::uint64_t number;
};

bool is_blank(const char* begin, const char* end) {
  return std::all_of(begin, end, [](char c) { return c == ' ' || c == '\r'; });
}

class TextReader {
 public:
  TextReader(std::string_view text, std::uint64_t memory_limit, std::string_view path)
      : start_(text.data()), next_(start_), end_(start_ + text.size()), memory_limit_(memory_limit), path_(path) {}

  TextPoints read() {
    if (std::string_view(next_, end_ - next_).substr(0, 3) == "\xEF\xBB\xBF") next_ += 3;
    drop_blank_end();
    Line line = next_line();
    while (line.begin != end_ && *line.begin == '#' && next_ != end_) line = next_line();
    if (line.begin == end_ || *line.begin == '#') fail(line, "there are no numbers in this file");
    if (is_blank(line.begin, line.end)) fail(line, kEmptyLine);
    find_delimiter(line);
    TextPoints points;
    points.columns = columns_ = split(line).size();
    if (columns_ > kMaxColumns) fail(line, "more than 2^32 - 1 fields");
    const bool header = is_header(line);
    points.rows = 0;
    const char* const body = header ? next_ : line.begin;
    const std::uint64_t capacity = row_bound(body);
    if (capacity * columns_ > memory_limit_ / sizeof(double)) {
      throw OutOfMemory(
          fmt::format("'{}' becomes up to {} x {} float64 values, more than the {} bytes of memory that "
                      "are allowed for reading it; raise the memory limit, or convert it to a .npy file, "
                      "which is mapped",
                      path_, capacity, columns_, memory_limit_));
    }
    points.values = Array<double>(capacity * columns_);
    if (!header) parse_line(line, points.values.data() + columns_ * points.rows++);
    while (next_ != end_) {
      line = next_line();
      parse_line(line, points.values.data() + columns_ * points.rows++);
    }
    return points;
  }

 private:
  // Lines of nothing at the end of a file are a habit of editors, no missing values.
  void drop_blank_end() {
    while (next_ != end_) {
      const char* begin = end_;
      while (begin != next_ && begin[-1] != '\n') --begin;
      if (!is_blank(begin, end_)) return;
      end_ = begin == next_ ? begin : begin - 1;
    }
  }

  Line next_line() {
    const auto* feed = next_ == end_ ? nullptr : static_cast<const char*>(std::memchr(next_, '\n', end_ - next_));
    Line line{next_, feed != nullptr ? feed : end_, ++line_number_};
    next_ = feed != nullptr ? feed + 1 : end_;
    if (line.begin != line.end && line.end[-1] == '\r') --line.end;
    return line;
  }

  void find_delimiter(const Line& line) {
    bool quoted = false;
    bool comma = false;
    bool tab = false;
    for (const char* p = line.begin; p != line.end; ++p) {
      if (*p == '"') quoted = !quoted;
      if (quoted) continue;
      if (*p == ';') {
        delimiter_ = ';';
        return;
      }
      comma = comma || *p == ',';
      tab = tab || *p == '\t';
    }
    delimiter_ = comma ? ',' : tab ? '\t' : ' ';
  }

  [[nodiscard]] bool is_padding(char c) const { return c == ' ' || (delimiter_ == ' ' && c == '\t'); }

  [[nodiscard]] std::vector<std::string_view> split(const Line& line) const {
    std::vector<std::string_view> fields;
    const char* p = line.begin;
    const auto skip_padding = [&] {
      while (p != line.end && is_padding(*p)) ++p;
    };
    for (;;) {
      skip_padding();
      const char* begin = p;
      bool quoted = false;
      while (p != line.end && (quoted || !(delimiter_ == ' ' ? is_padding(*p) : *p == delimiter_))) {
        if (*p == '"') quoted = !quoted;
        ++p;
      }
      const char* end = p;
      while (end != begin && is_padding(end[-1])) --end;
      fields.emplace_back(begin, end - begin);
      if (delimiter_ == ' ') skip_padding();
      if (p == line.end) return fields;
      if (delimiter_ != ' ') ++p;
    }
  }

  // A header has no number at all; a line where only some fields are numbers is a mistake that must not pass as one.
  [[nodiscard]] bool is_header(const Line& line) const {
    std::size_t numbers = 0;
    for (const std::string_view field : split(line)) {
      double ignored = 0.0;
      const ParsedNumber parsed = parse_number(field.data(), field.data() + field.size(), ignored);
      if (parsed.error != NumberError::kNotANumber && parsed.end == field.data() + field.size()) ++numbers;
    }
    return numbers == 0;
  }

  // No more rows than lines, nor than fit when each field has one character: a first line of a million fields before a
  // million empty lines must not ask for terabytes.
  [[nodiscard]] std::uint64_t row_bound(const char* body) const {
    const auto lines = static_cast<std::uint64_t>(std::count(body, end_, '\n')) + 1;
    const auto characters = static_cast<std::uint64_t>(end_ - body);
    return body == end_ ? 0 : std::min(lines, (characters + 1) / (2 * columns_) + 1);
  }

  void parse_line(const Line& line, double* out) const {
    const char* p = line.begin;
    for (std::uint64_t column = 0; column < columns_; ++column) {
      if (column != 0) {
        if (delimiter_ != ' ') {
          if (p == line.end || *p != delimiter_) refuse(line);
          ++p;
        } else if (p == line.end || !is_padding(*p)) {
          refuse(line);
        }
      }
      while (p != line.end && is_padding(*p)) ++p;
      const ParsedNumber parsed = parse_number(p, line.end, out[column]);
      if (parsed.error != NumberError::kNone) refuse(line);
      p = parsed.end;
      if (delimiter_ != ' ') {
        while (p != line.end && *p == ' ') ++p;
      }
    }
    while (p != line.end && is_padding(*p)) ++p;
    if (p != line.end) refuse(line);
  }

  // The slow second look at a line that did not parse, for a message that says what is wrong with it.
  [[noreturn]] void refuse(const Line& line) const {
    if (is_blank(line.begin, line.end)) fail(line, kEmptyLine);
    const std::vector<std::string_view> fields = split(line);
    if (fields.size() != columns_) {
      fail(line, fmt::format("the line has {} fields where the first has {}", fields.size(), columns_));
    }
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const std::string_view field = fields[column];
      const char* end = field.data() + field.size();
      double ignored = 0.0;
      const ParsedNumber parsed = parse_number(field.data(), end, ignored);
      if (field.empty()) fail(line, "the field is empty; every row needs a number in every column", column, field);
      if (parsed.error == NumberError::kOverflow) {
        fail(line, fmt::format("{} is beyond the range of float64", shown(field)), column, field);
      }
      if (parsed.error == NumberError::kNotANumber || parsed.end != end) {
        fail(line, fmt::format("{} is not a number", shown(field)), column, field);
      }
    }
    fail(line, "the line is malformed");
  }

  static std::string shown(std::string_view field) {
    constexpr std::size_t kLongest = 40;
    std::string text = "'";
    for (const char c : field.substr(0, kLongest)) text += c >= ' ' && c <= '~' ? c : '?';
    return text + (field.size() > kLongest ? "...'" : "'");
  }

  [[noreturn]] void fail(const Line& line, std::string_view reason) const {
    throw InvalidArgument(fmt::format("'{}', line {} (byte {}): {}", path_, line.number, line.begin - start_, reason));
  }
  [[noreturn]] void fail(const Line& line, std::string_view reason, std::size_t column, std::string_view field) const {
    throw InvalidArgument(fmt::format("'{}', line {}, field {} (byte {}): {}", path_, line.number, column + 1,
                                      field.data() - start_, reason));
  }

  static constexpr std::string_view kEmptyLine = "the line is empty; only lines at the end of the file may be";

  const char* start_;
  const char* next_;
  const char* end_;
  std::uint64_t memory_limit_;
  std::string_view path_;
  std::uint64_t line_number_ = 0;
  std::uint64_t columns_ = 0;
  char delimiter_ = ' ';
};

}  // namespace

TextPoints parse_text(std::string_view text, std::uint64_t memory_limit, std::string_view path) {
  const FloatingPointScope scope;
  return TextReader(text, memory_limit, path).read();
}

}  // namespace rthiss::io
