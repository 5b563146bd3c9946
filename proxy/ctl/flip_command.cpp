#include "proxy/ctl/flip_command.hpp"

#include <istream>
#include <ostream>
#include <variant>

#include "proxy/ctl/render.hpp"
#include "proxy/ctl/report.hpp"
#include "proxy/ctl/text.hpp"
#include "proxy/ctl/transition_watch.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

/// Either the flip goes on, with the mode that the operator saw when he agreed, or it is over.
struct agreed {
  std::optional<std::string> seen_mode;
};
using agreement = std::variant<agreed, exit_code>;

page describe(const json::value& status, const flip_command& wanted) {
  page result;
  result.push_back(labelled(
      "mode now", {{text_at(status, "/ledger/mode").value_or("not known"), style::strong},
                   {"   version " + text_at(status, "/ledger/version").value_or("-"), style::faint}}));
  result.push_back(
      labelled(wanted.rehearse ? "rehearse" : "change to", {{harmless(wanted.to), style::strong}}));
  const std::int64_t held = number_at(status, "/pins/held").value_or(0);
  std::string pins = counted(held, "pin", "pins") + " held";
  if (const auto oldest = number_at(status, "/pins/oldest_age_ms"))
    pins += ", oldest " + duration_text(*oldest);
  result.push_back(labelled("writers", {{pins}}));
  if (wanted.queue_budget)
    result.push_back(labelled("may wait", {{harmless(*wanted.queue_budget) + " per attempt"}}));
  if (wanted.deadline) result.push_back(labelled("deadline", {{harmless(*wanted.deadline)}}));
  if (wanted.reason) result.push_back(labelled("reason", {{harmless(*wanted.reason)}}));
  return result;
}

std::string without_surrounding_space(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Whoever types the mode has read it.
agreement ask(console& terminal, const admin_client& client, const flip_command& wanted,
              output_format format) {
  if (format == output_format::json) {
    report(terminal, "flip asks before it changes anything, and -o json is for programs", "add --yes");
    return exit_code::usage;
  }
  if (!terminal.in_is_terminal) {
    report(terminal, "flip asks before it changes anything, and standard input is not a terminal",
           "add --yes when a script is meant to do this");
    return exit_code::usage;
  }
  const admin_result result = client.get("/v1/status");
  if (const auto failed = failure_of(terminal, result, format)) return *failed;
  const auto& answer = std::get<admin_answer>(result);
  const auto mode = text_at(answer.body, "/ledger/mode");
  if (mode == harmless(wanted.to) && !wanted.from && !wanted.expect_version) {
    print(terminal, {labelled("done", {{"the mode is " + *mode + " already", style::good}})});
    return exit_code::done;
  }
  print(terminal, describe(answer.body, wanted));
  terminal.out << "Type the target mode to go on: " << std::flush;
  std::string typed;
  const bool read = static_cast<bool>(std::getline(terminal.in, typed));
  if (!read) terminal.out << '\n';
  if (without_surrounding_space(typed) != wanted.to) {
    report(terminal, "that is not '" + harmless(wanted.to) + "': nothing was touched", {});
    return exit_code::refused;
  }
  return agreed{mode};
}

/// What the operator saw is what he agreed to: if another change came in between, his is refused.
json::object request_of(const flip_command& wanted, const std::optional<std::string>& seen_mode) {
  json::object body;
  const auto put = [&body](const char* name, const std::optional<std::string>& value) {
    if (value) body[name] = *value;
  };
  body["to"] = wanted.to;
  const bool is_change = seen_mode && *seen_mode != wanted.to;
  put("from", wanted.from || !is_change ? wanted.from : seen_mode);
  put("expect_version", wanted.expect_version);
  put("queue_budget", wanted.queue_budget);
  put("deadline", wanted.deadline);
  put("reason", wanted.reason);
  put("request_id", wanted.request_id);
  if (wanted.rehearse) body["rehearse"] = true;
  return body;
}

exit_code without_answer(console& terminal, const client_error& error) {
  if (error.stage == client_error::stage::before_sending) {
    report(terminal, error);
    return exit_code::refused;
  }
  report(terminal, error.message, "the request was sent and may be carried out: look at gatectl status");
  return exit_code::unknown;
}

exit_code already_there(console& terminal, const admin_answer& answer, output_format format) {
  if (format == output_format::json) {
    print_json(terminal, answer.body);
  } else {
    print(terminal, render_outcome(answer.body));
  }
  return exit_code::done;
}

} // namespace

exit_code plan(console& terminal, const admin_client& client, const flip_command& wanted,
               output_format format) {
  json::object body = request_of(wanted, std::nullopt);
  body["dry_run"] = true;
  const admin_result result = client.post("/v1/transitions", body);
  if (const auto failed = failure_of(terminal, result, format)) return *failed;
  const auto& answer = std::get<admin_answer>(result);
  if (format == output_format::json) {
    print_json(terminal, answer.body);
  } else {
    print(terminal, render_plan(answer.body));
  }
  return is_true_at(answer.body, "/plan/possible") ? exit_code::done : exit_code::refused;
}

exit_code flip(console& terminal, const admin_client& client, const flip_command& wanted,
               output_format format) {
  std::optional<std::string> seen_mode;
  if (wanted.confirm == confirmation::ask) {
    const agreement outcome = ask(terminal, client, wanted, format);
    if (const auto* code = std::get_if<exit_code>(&outcome)) return *code;
    seen_mode = std::get<agreed>(outcome).seen_mode;
  }
  terminal.catch_interrupts();
  const admin_result result = client.post("/v1/transitions", request_of(wanted, seen_mode));
  if (const auto* error = std::get_if<client_error>(&result)) return without_answer(terminal, *error);
  const auto& answer = std::get<admin_answer>(result);
  // The mode is there already, or this request_id has been carried out before.
  if (answer.status == 200 && text_at(answer.body, "/state") == "committed")
    return already_there(terminal, answer, format);
  const json::value* id =
      object_at(answer.body, "") != nullptr ? answer.body.get_object().if_contains("id") : nullptr;
  const bool known = answer.status == 202 || answer.status == 200;
  if (!known || id == nullptr || !id->is_string()) return refused(terminal, answer, format);
  return watch_transition(terminal, client, answer.body, format);
}

} // namespace ledgergate::ctl
