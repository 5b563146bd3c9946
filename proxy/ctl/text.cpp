#include "proxy/ctl/text.hpp"

#include <algorithm>
#include <cstdio>

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

constexpr std::size_t label_columns = 12;
constexpr std::size_t sentence_columns = 78 - label_columns;

const json::value* find(const json::value& value, std::string_view pointer) {
  json::error_code ec;
  return value.find_pointer(json::string_view(pointer.data(), pointer.size()), ec);
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u;
  }));
}

std::string padded(std::string text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  if (used < columns) text.append(columns - used, ' ');
  return text;
}

std::string two_parts(std::int64_t large, const char* large_unit, std::int64_t small,
                      const char* small_unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%lld %s %02lld %s", static_cast<long long>(large), large_unit,
                static_cast<long long>(small), small_unit);
  return text;
}

} // namespace

std::string duration_text(std::int64_t milliseconds) {
  if (milliseconds < 1000) return std::to_string(milliseconds) + " ms";
  const std::int64_t seconds = milliseconds / 1000;
  if (seconds < 60) return std::to_string(seconds) + '.' + std::to_string(milliseconds % 1000 / 100) + " s";
  if (seconds < 3600) return two_parts(seconds / 60, "m", seconds % 60, "s");
  if (seconds < 86400) return two_parts(seconds / 3600, "h", seconds % 3600 / 60, "m");
  return two_parts(seconds / 86400, "d", seconds % 86400 / 3600, "h");
}

std::string harmless(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    if (byte < 0x20 || byte == 0x7f) {
      result += ' ';
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      // The C1 controls, U+0080 to U+009F, are two bytes of UTF-8; some terminals obey them.
      result += ' ';
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string shortened(std::string text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  std::size_t end = 0;
  std::size_t used = 0;
  while (end < text.size()) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0u) != 0x80u;
    if (begins && ++used >= columns) break;
    ++end;
  }
  text.resize(end);
  return text + '~';
}

std::optional<std::string> text_at(const json::value& value, std::string_view pointer) {
  const json::value* found = find(value, pointer);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  const json::string& text = found->get_string();
  return harmless({text.data(), text.size()});
}

std::optional<std::int64_t> number_at(const json::value& value, std::string_view pointer) {
  const json::value* found = find(value, pointer);
  if (found == nullptr) return std::nullopt;
  json::error_code ec;
  const auto number = found->to_number<std::int64_t>(ec);
  if (ec) return std::nullopt;
  return number;
}

bool is_true_at(const json::value& value, std::string_view pointer) {
  const json::value* found = find(value, pointer);
  return found != nullptr && found->is_bool() && found->get_bool();
}

const json::array* array_at(const json::value& value, std::string_view pointer) {
  const json::value* found = find(value, pointer);
  return found != nullptr && found->is_array() ? &found->get_array() : nullptr;
}

const json::value* object_at(const json::value& value, std::string_view pointer) {
  const json::value* found = find(value, pointer);
  return found != nullptr && found->is_object() ? found : nullptr;
}

std::string number_cell(const json::value& value, std::string_view pointer) {
  const auto number = number_at(value, pointer);
  return number ? std::to_string(*number) : "-";
}

std::string duration_cell(const json::value& value, std::string_view pointer) {
  const auto milliseconds = number_at(value, pointer);
  return milliseconds ? duration_text(*milliseconds) : "-";
}

std::string counted(std::int64_t count, std::string_view singular, std::string_view plural) {
  return std::to_string(count) + ' ' + std::string(count == 1 ? singular : plural);
}

line labelled(std::string_view label, std::vector<span> content) {
  line result{{padded(std::string(label), label_columns), style::faint}};
  for (span& piece : content)
    result.push_back(std::move(piece));
  return result;
}

page labelled_sentence(std::string_view label, std::string_view sentence) {
  page result;
  while (columns_of(sentence) > sentence_columns) {
    // Counted in bytes: a sentence with many other letters than ASCII is broken a little early.
    std::size_t end = sentence.rfind(' ', sentence_columns);
    if (end == std::string_view::npos || end == 0) break;
    result.push_back(labelled(result.empty() ? label : "", {{std::string(sentence.substr(0, end))}}));
    sentence.remove_prefix(end + 1);
  }
  result.push_back(labelled(result.empty() ? label : "", {{std::string(sentence)}}));
  return result;
}

page table(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  page result;
  for (const auto& row : rows) {
    std::string text(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i + 1 < row.size() ? padded(row[i], widths[i] + 2) : row[i];
    }
    result.push_back({{std::move(text), result.empty() ? style::faint : style::plain}});
  }
  return result;
}

} // namespace ledgergate::ctl
