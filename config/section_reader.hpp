// Typed reading of one map of the document; used by the read_*.cpp files alone.
// Every function leaves its target as it is (at the default) when the key is absent, and reports what is
// wrong otherwise, so that one pass finds all errors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "config/load.hpp"
#include "config/names.hpp"
#include "config/units.hpp"

namespace ledgergate::config {

/// Where every key of the file stands, and the errors so far. Errors name a key path and find their place by
/// it.
class load_context {
 public:
  explicit load_context(std::string file_name);

  void record(const std::string& path, position at) { places_.try_emplace(path, at); }
  bool is_given(const std::string& path) const { return places_.contains(path); }

  /// At the place of `path`, or, when the file has no such key, of the nearest map around it.
  void error(const std::string& path, std::string message);
  void error_at(position at, const std::string& path, std::string message);
  bool has_error(const std::string& path) const;

  /// In the order of the file.
  std::vector<load_error> take_errors();
  /// Without the file as a whole.
  std::map<std::string, position, std::less<>> given_paths() const;

 private:
  std::string file_name_;
  std::map<std::string, position, std::less<>> places_;
  std::vector<load_error> errors_;
};

/// Whether `key: null` may stand for a key left out.
enum class null_value { means_absent, is_error };

class section_reader {
 public:
  /// Reports unknown and duplicate keys, and a section that is no map. `section` must outlive the reader.
  section_reader(load_context& context, const node& section, std::string path,
                 std::vector<std::string_view> keys);

  load_context& context() const { return context_; }
  std::string path_of(std::string_view key) const;

  /// The value of a key; null when it is absent.
  const node* find(std::string_view key) const;
  /// The same, and an absent key is an error that says `allowed`.
  const node* find_required(std::string_view key, std::string_view allowed) const;

  /// A map in its own right. An absent one reads as empty, so that the keys it must have are reported one by
  /// one.
  section_reader section(std::string_view key, std::vector<std::string_view> keys) const;

  /// A non-empty string; empty when absent or wrong. `allowed` ends the sentence "must be ..".
  std::string text(std::string_view key, std::string_view allowed,
                   null_value null = null_value::is_error) const;
  void duration(std::string_view key, std::chrono::milliseconds& target, duration_range range) const;
  void size(std::string_view key, std::size_t& target, size_range range) const;
  template <typename Number>
  void number(std::string_view key, Number& target, number_range range) const;
  template <typename Enum, std::size_t Count>
  void choice(std::string_view key, Enum& target, const name_table<Enum, Count>& names) const;

  /// The items of a list; none when it is absent or no list. `of_what` ends the sentence "must be a list of
  /// ..".
  std::vector<const node*> items(std::string_view key, std::string_view of_what) const;

 private:
  void choose(std::string_view key, const std::vector<std::string_view>& words,
              const std::function<void(std::size_t)>& take) const;
  void read_number(std::string_view key, number_range range,
                   const std::function<void(std::int64_t)>& take) const;

  load_context& context_;
  const node& section_;
  std::string path_;
};

/// `path[index]`.
std::string item_path(const std::string& path, std::size_t index);

/// The string of a scalar; nothing, and an error, for everything else. A plain number or true/false is not a
/// string.
const std::string* string_of(load_context& context, const node& value, const std::string& path,
                             std::string_view allowed);

/// A scalar whose form is checked by a parse function of units.hpp; `""` never is one. Null, and an error,
/// when it is not one.
const std::string* scalar_of(load_context& context, const node& value, const std::string& path,
                             std::string_view allowed);

/// `"value" is not allowed; message`, with the value shortened and its control characters escaped.
std::string refusal(std::string_view value, std::string_view message);

template <typename Number>
void section_reader::number(std::string_view key, Number& target, number_range range) const {
  read_number(key, range, [&target](std::int64_t value) { target = static_cast<Number>(value); });
}

template <typename Enum, std::size_t Count>
void section_reader::choice(std::string_view key, Enum& target, const name_table<Enum, Count>& names) const {
  std::vector<std::string_view> words;
  for (const auto& [word, value] : names)
    words.push_back(word);
  choose(key, words, [&](std::size_t index) { target = names.at(index).second; });
}

} // namespace ledgergate::config
