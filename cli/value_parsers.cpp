#include "value_parsers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

#include "errors.hpp"

namespace rthiss::cli {

namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view expected) {
  throw UsageError(fmt::format("{}: '{}' is not {}", option, text, expected));
}

/// Reads a number at the start of `text` and takes it off. False where there is none or no double holds it.
bool take_number(std::string_view& text, double& value) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  auto format = std::chars_format::general;
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    format = std::chars_format::hex;
    rest.remove_prefix(2);
  }
  if (rest.empty() || rest[0] == '-' || rest[0] == '+') return false;
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), value, format);
  if (failure != std::errc()) return false;
  if (negative) value = -value;
  text = rest.substr(static_cast<std::size_t>(end - rest.data()));
  return true;
}

/// The factor of a unit; 0: none of that name.
double unit_factor(std::string_view unit) {
  std::string lower;
  for (const char c : unit) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower.empty() || lower == "b") return 1;
  const std::size_t power = std::string_view("kmgtp").find(lower[0]);
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = std::string_view(lower).substr(1);
  if (rest == "b") return std::pow(1000.0, static_cast<double>(power + 1));
  if (rest.empty() || rest == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
  return 0;
}

}  // namespace

double parse_number(std::string_view option, std::string_view text) {
  double value = 0;
  std::string_view rest = text;
  if (!take_number(rest, value) || !rest.empty()) refuse(option, text, "a number that a double can hold");
  if (std::isnan(value)) refuse(option, text, "a number");
  return value;
}

double parse_radius(std::string_view option, std::string_view text) {
  const double value = parse_number(option, text);
  if (value < 0) throw UsageError(fmt::format("{}: {} is negative", option, text));
  return value;
}

std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t low, std::uint64_t high) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, value);
  bool good = failure == std::errc() && end == last && !text.empty();
  if (!good && failure == std::errc()) {
    double number = 0;
    std::string_view rest = text;
    good = take_number(rest, number) && rest.empty() && number >= 0 && number < 0x1p53 && number == std::floor(number);
    if (good) value = static_cast<std::uint64_t>(number);
  }
  if (!good || value < low || value > high) refuse(option, text, fmt::format("an integer from {} to {}", low, high));
  return value;
}

std::uint64_t parse_size(std::string_view option, std::string_view text) {
  constexpr std::string_view kExpected = "a size above 0 such as 500MB or 8GiB";
  std::string_view rest = text;
  double number = 0;
  if (!take_number(rest, number)) refuse(option, text, kExpected);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const double bytes = number * unit_factor(rest);
  if (!(bytes >= 1) || bytes >= 0x1p63) refuse(option, text, kExpected);
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace rthiss::cli
