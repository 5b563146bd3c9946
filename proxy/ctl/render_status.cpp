#include "proxy/ctl/render.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

std::string text_or_dash(const json::value& value, std::string_view pointer) {
  return text_at(value, pointer).value_or("-");
}

line mode_line(const json::value& status) {
  const auto mode = text_at(status, "/ledger/mode");
  if (!mode)
    return labelled("mode", {{"not known", style::warning}, {" (the control row could not be read yet)"}});
  line result = labelled("mode", {{*mode, style::strong}});
  if (const auto since = text_at(status, "/ledger/since")) result.push_back({" since " + *since});
  if (const auto version = text_at(status, "/ledger/version")) {
    result.push_back({"   version " + *version, style::faint});
  }
  return result;
}

line pins_line(const json::value& status) {
  const std::int64_t waiting = number_at(status, "/pins/waiting").value_or(0);
  std::vector<span> content{
      {std::to_string(number_at(status, "/pins/held").value_or(0)) + " held, "},
      {std::to_string(waiting) + " waiting", waiting > 0 ? style::warning : style::plain}};
  if (const auto oldest = number_at(status, "/pins/oldest_age_ms")) {
    content.push_back({", oldest " + duration_text(*oldest)});
  }
  return labelled("pins", std::move(content));
}

line gate_line(const json::value& status) {
  const std::string mode = text_or_dash(status, "/gate/mode");
  std::vector<span> content{{mode, mode == "enforce" ? style::good : style::warning}};
  if (mode == "observe") content.push_back({" (counts, pins nothing)"});
  if (mode == "off") content.push_back({" (plain relay)"});
  content.push_back({", database " + text_or_dash(status, "/gate/database") + ", key " +
                     text_or_dash(status, "/gate/lock_key")});
  return labelled("gate", std::move(content));
}

line upstream_line(const json::value& status) {
  std::vector<span> content{{text_or_dash(status, "/upstream/address")}};
  if (const auto error = text_at(status, "/upstream/error")) content.push_back({"  " + *error, style::bad});
  return labelled("upstream", std::move(content));
}

line control_line(const json::value& status) {
  if (is_true_at(status, "/control/connected")) return labelled("control", {{"connected", style::good}});
  const auto error = text_at(status, "/control/error");
  return labelled("control", {{"not connected", style::bad}, {error ? ": " + *error : ""}});
}

line last_line(const json::value& last) {
  const std::string state = text_or_dash(last, "/state");
  std::string how = state;
  if (const auto reason = text_at(last, "/reason")) how += " (" + *reason + ')';
  std::string when;
  if (const auto finished = text_at(last, "/finished_at")) when = "  " + *finished;
  return labelled("last", {{text_or_dash(last, "/from") + " -> " + text_or_dash(last, "/to") + ' '},
                           {how, state == "committed" ? style::good : style::warning},
                           {when, style::faint}});
}

void append_sidecars(page& target, const json::value& status) {
  const json::array* sidecars = array_at(status, "/sidecars");
  if (sidecars == nullptr) return;
  std::string_view label = "sidecars";
  for (const json::value& sidecar : *sidecars) {
    target.push_back(labelled(label, {{text_or_dash(sidecar, "/name")}}));
    label = "";
  }
}

} // namespace

page render_status(const json::value& status) {
  page result;
  result.push_back(mode_line(status));
  result.push_back(pins_line(status));
  const json::value* running = object_at(status, "/transition");
  if (running == nullptr) {
    result.push_back(labelled("transition", {{"none runs", style::faint}}));
  } else {
    const page progress = render_progress(*running);
    result.insert(result.end(), progress.begin(), progress.end());
  }
  if (const json::value* last = object_at(status, "/last_transition")) {
    result.push_back(last_line(*last));
    result.push_back(labelled("", {{cost_text(*last), style::faint}}));
  }
  result.push_back(gate_line(status));
  result.push_back(upstream_line(status));
  result.push_back(control_line(status));
  result.push_back(
      labelled("clients", {{std::to_string(number_at(status, "/clients/connected").value_or(0)) + " of " +
                            std::to_string(number_at(status, "/clients/limit").value_or(0))}}));
  if (const auto age = number_at(status, "/catalog/age_ms")) {
    result.push_back(labelled("catalog", {{"read " + duration_text(*age) + " ago"}}));
  }
  append_sidecars(result, status);
  result.push_back(labelled("sidecar", {{"ledgergate " + text_or_dash(status, "/version") + ", up " +
                                         duration_text(number_at(status, "/uptime_ms").value_or(0))}}));
  return result;
}

} // namespace ledgergate::ctl
