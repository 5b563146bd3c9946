#include "proxy/admin/transition_request_reader.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/ranges.hpp"
#include "proxy/admin/flat_json.hpp"

namespace ledgergate::admin {
namespace {

using transition::transition_request;

api_error bad_field(std::string code, std::string_view field, std::string_view why) {
  const bool bad_value = code == "out_of_range";
  const std::string name(field);
  return {http_status::bad_request,
          std::move(code),
          "the field '" + name + "' " + std::string(why),
          bad_value
              ? "nothing was changed; send another value"
              : "the fields are to (required), from, expect_version, reason, queue_budget, deadline and "
                "request_id, all strings, and dry_run and rehearse, true or false",
          {{"field", name}}};
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

/// Where the text of a field goes; null for a field that is not known.
using assign = std::optional<api_error> (*)(transition_request& request, const std::string& field,
                                            std::string text);

std::optional<api_error> assign_duration(std::optional<std::chrono::milliseconds>& target,
                                         const std::string& field, const std::string& text,
                                         config::duration_range range) {
  const auto duration = config::parse_duration(text, range);
  if (!duration) return bad_field("out_of_range", field, duration.error().message);
  target = *duration;
  return std::nullopt;
}

struct known_field {
  std::string_view name;
  assign set;
};

constexpr known_field known_fields[] = {
    {"to",
     [](transition_request& request, const std::string& field, std::string text) -> std::optional<api_error> {
       if (text.empty()) return bad_field("missing_field", field, "is empty");
       request.to = std::move(text);
       return std::nullopt;
     }},
    {"from",
     [](transition_request& request, const std::string&, std::string text) -> std::optional<api_error> {
       request.from = std::move(text);
       return std::nullopt;
     }},
    {"expect_version",
     [](transition_request& request, const std::string&, std::string text) -> std::optional<api_error> {
       request.expect_version = std::move(text);
       return std::nullopt;
     }},
    {"reason",
     [](transition_request& request, const std::string&, std::string text) -> std::optional<api_error> {
       request.reason = std::move(text);
       return std::nullopt;
     }},
    {"request_id",
     [](transition_request& request, const std::string& field, std::string text) -> std::optional<api_error> {
       if (text.empty()) return bad_field("out_of_range", field, "is empty");
       request.request_id = std::move(text);
       return std::nullopt;
     }},
    {"queue_budget",
     [](transition_request& request, const std::string& field, std::string text) -> std::optional<api_error> {
       return assign_duration(request.queue_budget, field, text, config::ranges::queue_budget);
     }},
    {"deadline",
     [](transition_request& request, const std::string& field, std::string text) -> std::optional<api_error> {
       return assign_duration(request.deadline, field, text, config::ranges::deadline);
     }},
};

/// The two that say how it is to be carried out, not what.
bool* flag_of(transition_call& call, const std::string& name) {
  if (name == "dry_run") return &call.dry_run;
  if (name == "rehearse") return &call.request.rehearse;
  return nullptr;
}

std::optional<api_error> read_field(transition_call& call, const std::string& name, flat_json_value& value) {
  if (bool* const flag = flag_of(call, name)) {
    const auto* given = std::get_if<bool>(&value);
    if (given == nullptr)
      return bad_field("wrong_type", name, std::string("must be true or false, not ") + kind_of(value));
    *flag = *given;
    return std::nullopt;
  }
  const auto* field = std::find_if(std::begin(known_fields), std::end(known_fields),
                                   [&name](const known_field& known) { return known.name == name; });
  if (field == std::end(known_fields)) return bad_field("unknown_field", name, "is not known");
  auto* text = std::get_if<std::string>(&value);
  if (text == nullptr)
    return bad_field("wrong_type", name, std::string("must be a string, not ") + kind_of(value));
  if (text->size() > max_field_bytes) return bad_field("out_of_range", name, "is longer than 1000 bytes");
  if (has_control_character(*text)) return bad_field("out_of_range", name, "must be one line of text");
  return field->set(call.request, name, std::move(*text));
}

} // namespace

std::variant<transition_call, api_error> read_transition_request(std::string_view body) {
  auto parsed = parse_flat_json(body);
  if (const auto* error = std::get_if<flat_json_error>(&parsed)) {
    return api_error{http_status::bad_request, "malformed_json", error->message,
                     R"(send one object, for example {"to": "ledger", "from": "shadow"})"};
  }
  transition_call call;
  for (auto& [name, value] : std::get<flat_json_object>(parsed)) {
    if (std::optional<api_error> error = read_field(call, name, value)) return std::move(*error);
  }
  if (call.request.to.empty()) return bad_field("missing_field", "to", "is missing");
  return call;
}

} // namespace ledgergate::admin
