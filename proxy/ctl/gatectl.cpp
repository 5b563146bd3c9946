#include "proxy/ctl/gatectl.hpp"

#include <ostream>
#include <utility>

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/explain_command.hpp"
#include "proxy/ctl/flip_command.hpp"
#include "proxy/ctl/install_command.hpp"
#include "proxy/ctl/operate_command.hpp"
#include "proxy/ctl/render.hpp"
#include "proxy/ctl/report.hpp"
#include "proxy/ctl/show_command.hpp"
#include "proxy/ctl/token.hpp"

namespace ledgergate::ctl {
namespace {

template <typename... Handlers>
struct overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

} // namespace

exit_code run_gatectl(const std::vector<std::string>& arguments, const environment& variables,
                      console& terminal) {
  auto parsed = parse_command_line(arguments, variables);
  if (const auto* asked = std::get_if<information>(&parsed)) {
    terminal.out << asked->text << std::flush;
    return exit_code::done;
  }
  if (const auto* error = std::get_if<usage_error>(&parsed)) {
    report(terminal, error->message, error->hint);
    return exit_code::usage;
  }
  const auto& call = std::get<invocation>(parsed);
  std::optional<std::string> token;
  if (call.token_file) {
    auto read = read_token(*call.token_file);
    if (const auto* error = std::get_if<token_error>(&read)) {
      report(terminal, error->message, "nothing was touched; see --token-file and GATECTL_TOKEN_FILE");
      return exit_code::refused;
    }
    token = std::get<std::string>(std::move(read));
  }
  const admin_client client(call.address, std::move(token), terminal.interrupted, call.tls);
  return std::visit(
      overloaded{
          [&](const status_command& wanted) {
            return show(terminal, client, {"/v1/status", render_status, overflow::wrap}, wanted.repeat,
                        call.format);
          },
          [&](const pins_command& wanted) {
            return show(terminal, client, {"/v1/pins", render_pins, overflow::cut}, wanted.repeat,
                        call.format);
          },
          [&](const catalog_command&) {
            return show(terminal, client, {"/v1/catalog", render_catalog, overflow::wrap}, repetition::once,
                        call.format);
          },
          [&](const observe_command&) {
            return show(terminal, client, {"/v1/observe", render_observe, overflow::wrap}, repetition::once,
                        call.format);
          },
          [&](const explain_command& wanted) { return explain(terminal, client, wanted, call.format); },
          [&](const sessions_command& wanted) {
            return show(terminal, client, {"/v1/sessions", render_sessions, overflow::cut}, wanted.repeat,
                        call.format);
          },
          [&](const history_command&) {
            return show(terminal, client, {"/v1/transitions", render_history, overflow::cut},
                        repetition::once, call.format);
          },
          [&](const plan_command& wanted) { return plan(terminal, client, wanted.change, call.format); },
          [&](const cancel_command& wanted) { return cancel(terminal, client, wanted, call.format); },
          [&](const drain_command&) { return drain(terminal, client, call.format); },
          [&](const reload_command&) { return reload(terminal, client, call.format); },
          [&](const install_command& wanted) { return install(terminal, client, wanted, call.format); },
          [&](const flip_command& wanted) { return flip(terminal, client, wanted, call.format); }},
      call.what);
}

} // namespace ledgergate::ctl
