#include "proxy/ctl/show_command.hpp"

#include <optional>
#include <ostream>
#include <utility>

#include "proxy/ctl/report.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

constexpr std::chrono::milliseconds refresh_interval{500};

/// While it watches, trouble is part of the picture: it may pass.
page page_of(const admin_result& result, const resource& wanted) {
  if (const auto* error = std::get_if<client_error>(&result)) {
    return {{{error->message, style::bad}}, {{error->hint}}, {{"trying again", style::faint}}};
  }
  const auto& answer = std::get<admin_answer>(result);
  if (answer.status == 200) return wanted.render(answer.body);
  return {{{text_at(answer.body, "/error/message").value_or("HTTP " + std::to_string(answer.status)),
            style::bad}},
          {{text_at(answer.body, "/error/hint").value_or("")}},
          {{"trying again", style::faint}}};
}

exit_code watch(console& terminal, const admin_client& client, const resource& wanted, admin_result result,
                output_format format) {
  std::optional<live_page> screen;
  if (terminal.out_is_terminal && format == output_format::text) screen.emplace(terminal);
  terminal.catch_interrupts();
  while (!terminal.interrupted()) {
    if (format == output_format::json) {
      if (const auto* answer = std::get_if<admin_answer>(&result)) print_json(terminal, answer->body);
    } else if (screen) {
      screen->show(page_of(result, wanted));
    } else {
      page content = page_of(result, wanted);
      content.emplace_back();
      print(terminal, content);
    }
    terminal.pause(refresh_interval);
    if (!terminal.interrupted()) result = client.get(wanted.path);
  }
  return exit_code::done;
}

} // namespace

exit_code show(console& terminal, const admin_client& client, const resource& wanted, repetition repeat,
               output_format format) {
  admin_result result = client.get(wanted.path);
  if (const auto failed = failure_of(terminal, result, format)) return *failed;
  if (repeat == repetition::watch) return watch(terminal, client, wanted, std::move(result), format);
  const boost::json::value& body = std::get<admin_answer>(result).body;
  if (format == output_format::json) {
    print_json(terminal, body);
  } else {
    print(terminal, wanted.render(body), wanted.wide);
  }
  return exit_code::done;
}

} // namespace ledgergate::ctl
