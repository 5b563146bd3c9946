#include "proxy/ctl/show_command.hpp"

#include <optional>
#include <ostream>
#include <utility>

#include <boost/json/serialize.hpp>

#include "proxy/ctl/report.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

constexpr std::chrono::milliseconds refresh_interval{500};

/// Empty when the answer is good; otherwise the failure has been reported.
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

void print_json(console& terminal, const admin_result& result) {
  const auto* answer = std::get_if<admin_answer>(&result);
  if (answer != nullptr) terminal.out << boost::json::serialize(answer->body) << '\n' << std::flush;
}

exit_code watch(console& terminal, const admin_client& client, const resource& wanted, admin_result result,
                output_format format) {
  std::optional<live_page> screen;
  if (terminal.out_is_terminal && format == output_format::text) screen.emplace(terminal);
  terminal.catch_interrupts();
  while (!terminal.interrupted()) {
    if (format == output_format::json) {
      print_json(terminal, result);
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
  if (format == output_format::json) {
    print_json(terminal, result);
  } else {
    print(terminal, wanted.render(std::get<admin_answer>(result).body), wanted.wide);
  }
  return exit_code::done;
}

} // namespace ledgergate::ctl
