#include "proxy/ctl/report.hpp"

#include <ostream>

#include <boost/json/serialize.hpp>

#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

/// The API's hints speak of HTTP; where gatectl has a way of its own, it says that.
std::string hint_of(const admin_answer& answer, std::string_view code) {
  if (code == "token_missing")
    return "name the token's file with --token-file FILE, or set GATECTL_TOKEN_FILE";
  if (code == "token_wrong") return "compare your token file with admin.token_file of this sidecar";
  if (code == "precondition_failed") return "gatectl status shows what is in force now; decide again";
  if (code == "transition_running") {
    const auto id = text_at(answer.body, "/error/id");
    return "one at a time: gatectl status -w shows it" + (id ? ", gatectl cancel " + *id + " ends it" : "") +
           "; flip again when it has ended";
  }
  if (code == "too_late_to_cancel") return "gatectl status -w shows how it ends";
  if (code == "already_ended") return "gatectl history says how";
  if (code == "no_such_transition") return "gatectl history lists those this sidecar knows";
  if (code == "unknown_mode") return "the modes stand under 'modes' in the sidecar's ledgergate.yaml";
  if (code == "database_unavailable") return "nothing was touched; gatectl status says how the sidecar is";
  if (code == "invalid_configuration")
    return "mend the file and reload again; ledgergate --check-config shows the same:";
  if (code == "needs_restart")
    return "restart the sidecar, or take these changes out of the file and reload again:";
  return text_at(answer.body, "/error/hint").value_or("");
}

} // namespace

void report(console& terminal, std::string_view message, std::string_view hint) {
  terminal.err << "gatectl: " << message << '\n';
  if (!hint.empty()) terminal.err << "  " << hint << '\n';
  terminal.err << std::flush;
}

void report(console& terminal, const client_error& error) { report(terminal, error.message, error.hint); }

void report(console& terminal, const admin_answer& answer, output_format format) {
  if (format == output_format::json) print_json(terminal, answer.body);
  const auto code = text_at(answer.body, "/error/code");
  if (!code) {
    report(terminal, "the answer was HTTP " + std::to_string(answer.status) + " without an explanation",
           "is this the admin port of a ledgergate sidecar?");
    return;
  }
  std::string message = text_at(answer.body, "/error/message").value_or("");
  if (const auto words = text_at(answer.body, "/error/server_error/message")) {
    message +=
        " (" + text_at(answer.body, "/error/server_error/sqlstate").value_or("?") + ": " + *words + ')';
  }
  report(terminal, message + " [" + *code + ']', hint_of(answer, *code));
}

std::optional<exit_code> failure_of(console& terminal, const admin_result& result, output_format format) {
  if (const auto* error = std::get_if<client_error>(&result)) {
    report(terminal, *error);
    return exit_code::refused;
  }
  const auto& answer = std::get<admin_answer>(result);
  if (answer.status == 200) return std::nullopt;
  report(terminal, answer, format);
  return exit_code::refused;
}

exit_code refused(console& terminal, const admin_answer& answer, output_format format) {
  report(terminal, answer, format);
  const bool uncertain = answer.status >= 500 && answer.status != 503;
  return uncertain ? exit_code::unknown : exit_code::refused;
}

void print_json(console& terminal, const boost::json::value& body) {
  terminal.out << boost::json::serialize(body) << '\n' << std::flush;
}

} // namespace ledgergate::ctl
