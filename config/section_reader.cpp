#include "config/section_reader.hpp"

#include <charconv>
#include <numeric>
#include <utility>

namespace ledgergate::config {
namespace {

constexpr std::size_t shown_bytes_max = 60;

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const auto word : words)
    text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

// Levenshtein distance over two rows.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> above(right.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t row = 0; row < left.size(); ++row) {
    std::vector<std::size_t> current{row + 1};
    for (std::size_t column = 0; column < right.size(); ++column) {
      const std::size_t changed = above[column] + (left[row] == right[column] ? 0 : 1);
      current.push_back(std::min({changed, above[column + 1] + 1, current[column] + 1}));
    }
    above = std::move(current);
  }
  return above.back();
}

// The nearest of the words, or nothing when none is near enough to be what was meant.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words) {
  // Longer than any key by more than the allowed distance; keeps the table above small.
  if (word.size() > shown_bytes_max) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto candidate : words) {
    const auto distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string_view kind_word(const node& value) {
  switch (value.kind) {
  case node_kind::null: return "nothing";
  case node_kind::text: return "a single value";
  case node_kind::list: return "a list";
  case node_kind::map: return "a mapping";
  }
  return {};
}

// YAML 1.2, section 10.3.2: what a plain scalar is when it is not a string.
std::string_view plain_type(const std::string& text) {
  for (const std::string_view word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == word) return "a boolean";
  }
  std::string_view digits = text;
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.find_first_of("0123456789") != 0 && !digits.starts_with('.')) return {};
  const char* end = digits.data() + digits.size();
  if (digits.starts_with("0x")) {
    return digits.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos ? "a number" : "";
  }
  double number = 0;
  const auto result = std::from_chars(digits.data(), end, number);
  return result.ptr == end && result.ec != std::errc::invalid_argument ? "a number" : "";
}

} // namespace

load_context::load_context(std::string file_name) : file_name_{std::move(file_name)} { record("", {1, 1}); }

void load_context::error(const std::string& path, std::string message) {
  std::string around = path;
  auto place = places_.find(around);
  while (place == places_.end()) {
    const auto cut = around.find_last_of(".[");
    around.erase(cut == std::string::npos ? 0 : cut);
    place = places_.find(around);
  }
  error_at(place->second, path, std::move(message));
}

void load_context::error_at(position at, const std::string& path, std::string message) {
  errors_.push_back({file_name_, at, path, std::move(message)});
}

bool load_context::has_error(const std::string& path) const {
  return std::any_of(errors_.begin(), errors_.end(), [&](const load_error& error) {
    return error.key == path || error.key.starts_with(path + ".") || error.key.starts_with(path + "[");
  });
}

std::vector<load_error> load_context::take_errors() {
  std::stable_sort(errors_.begin(), errors_.end(), [](const load_error& left, const load_error& right) {
    return std::pair{left.at.line, left.at.column} < std::pair{right.at.line, right.at.column};
  });
  return std::move(errors_);
}

std::map<std::string, position, std::less<>> load_context::given_paths() const {
  auto paths = places_;
  paths.erase("");
  return paths;
}

std::string item_path(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

std::string refusal(std::string_view value, std::string_view message) {
  std::string shown = "\"";
  for (const char c : value.substr(0, shown_bytes_max)) {
    const bool printable = static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    shown += printable ? c : '?';
  }
  if (value.size() > shown_bytes_max) shown += "..";
  return shown.append("\" is not allowed; ").append(message);
}

const std::string* scalar_of(load_context& context, const node& value, const std::string& path,
                             std::string_view allowed) {
  if (value.kind == node_kind::text) return &value.text;
  context.error(path, std::string{"is "}.append(kind_word(value)).append("; must be ").append(allowed));
  return nullptr;
}

const std::string* string_of(load_context& context, const node& value, const std::string& path,
                             std::string_view allowed) {
  const std::string* text = scalar_of(context, value, path, allowed);
  if (text == nullptr) return nullptr;
  const auto type = value.quoted ? std::string_view{} : plain_type(*text);
  if (!type.empty()) {
    context.error(path, std::string{"is "}
                            .append(type)
                            .append("; must be ")
                            .append(allowed)
                            .append(" (in quotes if that is what is meant)"));
    return nullptr;
  }
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    context.error(path, std::string{"is empty; must be "}.append(allowed));
    return nullptr;
  }
  return text;
}

section_reader::section_reader(load_context& context, const node& section, std::string path,
                               std::vector<std::string_view> keys)
    : context_{context}, section_{section}, path_{std::move(path)} {
  if (section.kind != node_kind::map) {
    context_.error(
        path_, std::string{"is "}.append(kind_word(section)).append("; must be a mapping with the keys ") +
                   joined(keys));
    return;
  }
  for (const node& child : section.children) {
    const std::string child_path = path_of(child.key);
    if (std::find(keys.begin(), keys.end(), child.key) == keys.end()) {
      std::string message = "is an unknown key; ";
      const auto meant = nearest(child.key, keys);
      if (!meant.empty()) message.append("did you mean ").append(meant).append("? ");
      context_.error_at(child.key_at, child_path, message + "allowed here: " + joined(keys));
    } else if (context_.is_given(child_path)) {
      context_.error_at(child.key_at, child_path, "is a duplicate key; it may be given once");
    } else {
      context_.record(child_path, child.at);
    }
  }
}

std::string section_reader::path_of(std::string_view key) const {
  if (path_.empty()) return std::string{key};
  return std::string{path_}.append(".").append(key);
}

const node* section_reader::find(std::string_view key) const {
  for (const node& child : section_.children) {
    if (child.key == key && section_.kind == node_kind::map) return &child;
  }
  return nullptr;
}

const node* section_reader::find_required(std::string_view key, std::string_view allowed) const {
  const node* value = find(key);
  // A section that is no map has been reported, keys and all.
  if (value == nullptr && section_.kind == node_kind::map) {
    context_.error(path_of(key), std::string{"is missing; must be "}.append(allowed));
  }
  return value;
}

section_reader section_reader::section(std::string_view key, std::vector<std::string_view> keys) const {
  static const node absent{node_kind::map, {}, false, {}, {}, {}, {}};
  const node* value = find(key);
  return section_reader{context_, value == nullptr ? absent : *value, path_of(key), std::move(keys)};
}

std::string section_reader::text(std::string_view key, std::string_view allowed, null_value null) const {
  const node* value = find(key);
  if (value == nullptr || (value->kind == node_kind::null && null == null_value::means_absent)) return {};
  const std::string* string = string_of(context_, *value, path_of(key), allowed);
  return string == nullptr ? std::string{} : *string;
}

void section_reader::duration(std::string_view key, std::chrono::milliseconds& target,
                              duration_range range) const {
  const node* value = find(key);
  if (value == nullptr) return;
  const auto allowed = "a duration from " + format_duration(range.min) + " to " + format_duration(range.max);
  const std::string* written = scalar_of(context_, *value, path_of(key), allowed);
  if (written == nullptr) return;
  const auto parsed = parse_duration(*written, range);
  if (parsed) target = *parsed;
  if (!parsed) context_.error(path_of(key), refusal(*written, parsed.error().message));
}

void section_reader::size(std::string_view key, std::size_t& target, size_range range) const {
  const node* value = find(key);
  if (value == nullptr) return;
  const auto allowed = "a size from " + format_size(range.min) + " to " + format_size(range.max);
  const std::string* written = scalar_of(context_, *value, path_of(key), allowed);
  if (written == nullptr) return;
  const auto parsed = parse_size(*written, range);
  if (parsed) target = *parsed;
  if (!parsed) context_.error(path_of(key), refusal(*written, parsed.error().message));
}

void section_reader::read_number(std::string_view key, number_range range,
                                 const std::function<void(std::int64_t)>& take) const {
  const node* value = find(key);
  if (value == nullptr) return;
  const auto allowed = "a whole number from " + std::to_string(range.min) + " to " +
                       std::to_string(range.max) + ", without quotes";
  const std::string* written = scalar_of(context_, *value, path_of(key), allowed);
  if (written == nullptr) return;
  if (value->quoted) {
    context_.error(path_of(key), "is a string; must be " + allowed);
    return;
  }
  const auto parsed = parse_number(*written, range);
  if (parsed) take(*parsed);
  if (!parsed) context_.error(path_of(key), refusal(*written, parsed.error().message));
}

void section_reader::choose(std::string_view key, const std::vector<std::string_view>& words,
                            const std::function<void(std::size_t)>& take) const {
  const node* value = find(key);
  if (value == nullptr) return;
  const std::string allowed = "one of " + joined(words);
  const std::string* written = scalar_of(context_, *value, path_of(key), allowed);
  if (written == nullptr) return;
  const auto word = std::find(words.begin(), words.end(), *written);
  if (word == words.end()) {
    context_.error(path_of(key), refusal(*written, "must be " + allowed));
    return;
  }
  take(static_cast<std::size_t>(word - words.begin()));
}

std::vector<const node*> section_reader::items(std::string_view key, std::string_view of_what) const {
  std::vector<const node*> found;
  const node* value = find(key);
  if (value == nullptr) return found;
  if (value->kind != node_kind::list) {
    context_.error(
        path_of(key),
        std::string{"is "}.append(kind_word(*value)).append("; must be a list of ").append(of_what));
    return found;
  }
  for (const node& item : value->children) {
    context_.record(item_path(path_of(key), found.size()), item.at);
    found.push_back(&item);
  }
  return found;
}

} // namespace ledgergate::config
