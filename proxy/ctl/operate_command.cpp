#include "proxy/ctl/operate_command.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "proxy/ctl/report.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

/// The strings of a list in an answer, made safe for a terminal.
std::vector<std::string> words_at(const boost::json::value& body, std::string_view pointer) {
  std::vector<std::string> words;
  const boost::json::array* listed = array_at(body, pointer);
  if (listed == nullptr) return words;
  for (const boost::json::value& each : *listed) {
    if (each.is_string()) words.push_back(harmless(each.get_string()));
  }
  return words;
}

/// 202 is followed by the sentence; everything else is reported. A lost answer may have been carried out.
exit_code finish(console& terminal, const admin_result& result, const std::string& sentence,
                 output_format format) {
  if (const auto* error = std::get_if<client_error>(&result)) {
    report(terminal, *error);
    return error->stage == client_error::stage::before_sending ? exit_code::refused : exit_code::unknown;
  }
  const auto& answer = std::get<admin_answer>(result);
  if (answer.status != 202) return refused(terminal, answer, format);
  if (format == output_format::json) {
    print_json(terminal, answer.body);
  } else {
    print(terminal, {{{sentence}}});
  }
  return exit_code::done;
}

} // namespace

exit_code cancel(console& terminal, const admin_client& client, const cancel_command& wanted,
                 output_format format) {
  const bool is_word = !wanted.id.empty() && std::all_of(wanted.id.begin(), wanted.id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!is_word) {
    report(terminal, "'" + harmless(wanted.id) + "' is not the id of a transition",
           "gatectl status shows the one that runs");
    return exit_code::usage;
  }
  return finish(terminal, client.remove("/v1/transitions/" + wanted.id),
                "the transition " + wanted.id + " is being cancelled; writers go on", format);
}

exit_code drain(console& terminal, const admin_client& client, output_format format) {
  return finish(terminal, client.post("/v1/drain", boost::json::object()),
                "draining: clients end as they become idle; gatectl sessions -w shows who is left", format);
}

exit_code reload(console& terminal, const admin_client& client, output_format format) {
  const admin_result result = client.post("/v1/reload", boost::json::object());
  const auto* answer = std::get_if<admin_answer>(&result);
  if (answer == nullptr) return finish(terminal, result, {}, format);
  if (answer->status != 202) {
    const exit_code code = refused(terminal, *answer, format);
    for (const std::string& problem : words_at(answer->body, "/error/problems"))
      terminal.err << "  " << problem << '\n';
    return code;
  }
  std::string changed;
  for (const std::string& key : words_at(answer->body, "/changed"))
    changed += (changed.empty() ? "" : ", ") + key;
  const std::string sentence =
      changed.empty() ? "read again; nothing is different" : "reloaded; changed: " + changed;
  return finish(terminal, result, sentence, format);
}

} // namespace ledgergate::ctl
