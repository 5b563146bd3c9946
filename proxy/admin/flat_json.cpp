#include "proxy/admin/flat_json.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <limits>

namespace ledgergate::admin {
namespace {

namespace json = boost::json;

/// Receives Boost.JSON's parse events and keeps the members of the outermost object. Returning false ends the
/// parse; `refusal` then says why.
class member_collector {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  flat_json_object members;
  std::string refusal;

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }

  bool on_object_begin(json::error_code&) {
    if (depth_ == 1) put(other_json{"an object"});
    ++depth_;
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    --depth_;
    return true;
  }
  bool on_array_begin(json::error_code& ec) {
    if (depth_ == 0) return refuse("the body must be a JSON object", ec);
    if (depth_ == 1) put(other_json{"an array"});
    ++depth_;
    return true;
  }
  bool on_array_end(std::size_t, json::error_code&) {
    --depth_;
    return true;
  }

  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code& ec) {
    key_.append(part.data(), part.size());
    if (depth_ != 1) {
      key_.clear();
      return true;
    }
    const auto same_name = [this](const auto& member) { return member.first == key_; };
    if (std::any_of(members.begin(), members.end(), same_name)) {
      return refuse("the field '" + key_ + "' is given twice", ec);
    }
    return true;
  }

  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code& ec) {
    text_.append(part.data(), part.size());
    std::string text = std::exchange(text_, {});
    return scalar(std::move(text), ec);
  }

  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code& ec) { return scalar(a_number, ec); }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code& ec) { return scalar(a_number, ec); }
  bool on_double(double, json::string_view, json::error_code& ec) { return scalar(a_number, ec); }
  bool on_bool(bool value, json::error_code& ec) { return scalar(value, ec); }
  bool on_null(json::error_code& ec) { return scalar(other_json{"null"}, ec); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  static constexpr other_json a_number{"a number"};

  bool scalar(flat_json_value value, json::error_code& ec) {
    if (depth_ == 0) return refuse("the body must be a JSON object", ec);
    if (depth_ == 1) put(std::move(value));
    return true;
  }
  void put(flat_json_value value) { members.emplace_back(std::exchange(key_, {}), std::move(value)); }
  bool refuse(std::string why, json::error_code& ec) {
    refusal = std::move(why);
    ec = json::error::syntax;
    return false;
  }

  std::size_t depth_ = 0;
  std::string key_;
  std::string text_;
};

} // namespace

const char* kind_of(const flat_json_value& value) {
  if (std::holds_alternative<std::string>(value)) return "a string";
  if (std::holds_alternative<bool>(value)) return "a boolean";
  return std::get<other_json>(value).kind;
}

std::variant<flat_json_object, flat_json_error> parse_flat_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = flat_json_max_depth;
  json::basic_parser<member_collector> parser(options);
  json::error_code ec;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
  member_collector& collector = parser.handler();
  if (!collector.refusal.empty()) return flat_json_error{collector.refusal};
  if (ec) return flat_json_error{"the body is not valid JSON (" + ec.message() + ")"};
  if (used != text.size())
    return flat_json_error{"the body is not valid JSON (something follows the object)"};
  return std::move(collector.members);
}

} // namespace ledgergate::admin
