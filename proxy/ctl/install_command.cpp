#include "proxy/ctl/install_command.hpp"

#include <istream>
#include <memory>
#include <ostream>
#include <string>

#include <libpq-fe.h>

#include "proxy/ctl/report.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

struct finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};

std::string without_line_end(std::string text) {
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

/// The script is one transaction of its own: it is in force as a whole or not at all.
exit_code run(console& terminal, const std::string& dsn, const std::string& sql) {
  const std::unique_ptr<PGconn, finish> connection(PQconnectdb(dsn.c_str()));
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    report(terminal, without_line_end(PQerrorMessage(connection.get())), "nothing was touched; see --dsn");
    return exit_code::refused;
  }
  PQsetNoticeProcessor(
      connection.get(),
      [](void* out, const char* text) { *static_cast<std::ostream*>(out) << harmless(text) << '\n'; },
      &terminal.err);
  PGresult* const result = PQexec(connection.get(), sql.c_str());
  const ExecStatusType status = PQresultStatus(result);
  const bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  const std::string words = without_line_end(PQresultErrorMessage(result));
  PQclear(result);
  if (good) return exit_code::done;
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    report(terminal, words, "it is not known whether the script was committed; it may be run again");
    return exit_code::unknown;
  }
  report(terminal, words, "nothing was changed: the script is one transaction");
  return exit_code::refused;
}

bool agrees(console& terminal) {
  if (!terminal.in_is_terminal) {
    report(terminal, "standard input is not a terminal, so nobody can agree to this",
           "look at it with --print, then add --yes");
    return false;
  }
  terminal.out << "Type yes to run this: " << std::flush;
  std::string typed;
  std::getline(terminal.in, typed);
  if (typed == "yes") return true;
  report(terminal, "nothing was touched", {});
  return false;
}

} // namespace

exit_code install(console& terminal, const admin_client& client, const install_command& wanted,
                  output_format format) {
  const bool in = wanted.direction == install_command::direction::in;
  if (!wanted.print && !wanted.dsn) {
    report(terminal, "install runs SQL as a role that owns the tables, and --dsn does not name one",
           "add --dsn 'host=.. dbname=.. user=..', or --print to run it by other means");
    return exit_code::usage;
  }
  const std::string& guards = wanted.guards;
  if (guards != "refuse" && guards != "pin" && guards != "none") {
    report(terminal, "'--guards' takes refuse, pin or none, not '" + harmless(guards) + "'",
           "see gatectl install --help");
    return exit_code::usage;
  }
  const admin_result result = client.get(in ? "/v1/install/" + guards : "/v1/uninstall");
  if (const auto* error = std::get_if<client_error>(&result)) {
    report(terminal, *error);
    return exit_code::refused;
  }
  const auto& answer = std::get<admin_answer>(result);
  const json::object* body = answer.body.if_object();
  const json::value* sql = answer.status == 200 && body != nullptr ? body->if_contains("sql") : nullptr;
  if (sql == nullptr || !sql->is_string()) {
    report(terminal, answer, format);
    return exit_code::refused;
  }
  const std::string script(sql->get_string());
  if (wanted.print && format == output_format::json) {
    print_json(terminal, answer.body);
  } else if (wanted.print || !wanted.confirmed) {
    terminal.out << script << std::flush;
  }
  if (wanted.print) return exit_code::done;
  if (!wanted.confirmed && !agrees(terminal)) return exit_code::refused;
  const exit_code done = run(terminal, *wanted.dsn, script);
  if (done == exit_code::done) print(terminal, {{{in ? "installed" : "uninstalled", style::good}}});
  return done;
}

} // namespace ledgergate::ctl
