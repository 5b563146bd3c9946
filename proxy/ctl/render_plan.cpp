#include "proxy/ctl/render.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

constexpr std::size_t most_holders = 8;

std::string text_or_dash(const json::value& value, std::string_view pointer) {
  return text_at(value, pointer).value_or("-");
}

/// Words as well as colours: a check must be readable without them.
line check_line(const json::value& check) {
  const std::string verdict = text_or_dash(check, "/verdict");
  const style look = verdict == "good" ? style::good : verdict == "bad" ? style::bad : style::warning;
  const std::string word = verdict == "good" ? "ok  " : verdict == "bad" ? "NO  " : "warn";
  return {{"  "}, {word, look}, {"  " + text_or_dash(check, "/message")}};
}

std::string pause_text(const json::value& plan) {
  const auto queue = number_at(plan, "/predicted_pause/queue_ms").value_or(0);
  const auto hold = number_at(plan, "/predicted_pause/hold_ms");
  const auto bound = number_at(plan, "/predicted_pause/at_most_ms").value_or(0);
  return "about " + duration_text(queue) + " in the queue, then " +
         (hold ? duration_text(*hold) + " under the gate, as last time"
               : std::string("the hold, not seen yet")) +
         "; never more than " + duration_text(bound);
}

} // namespace

page render_plan(const json::value& answer) {
  page result;
  result.push_back(
      labelled("plan", {{text_or_dash(answer, "/from") + " -> " + text_or_dash(answer, "/to"), style::strong},
                        {"   version " + text_or_dash(answer, "/version_before"), style::faint}}));
  const json::value* plan = object_at(answer, "/plan");
  if (plan == nullptr) return result;
  if (const json::array* checks = array_at(*plan, "/checks")) {
    for (const json::value& check : *checks)
      result.push_back(check_line(check));
  }
  const page pause = labelled_sentence("writers", "would wait " + pause_text(*plan));
  result.insert(result.end(), pause.begin(), pause.end());
  result.push_back(
      labelled("inside", {{counted(number_at(*plan, "/guards").value_or(0), "guard", "guards") + ", " +
                           counted(number_at(*plan, "/steps").value_or(0), "step", "steps")}}));
  if (const json::array* holders = array_at(answer, "/blockers"); holders != nullptr && !holders->empty()) {
    result.push_back(labelled(
        "holders",
        {{counted(static_cast<std::int64_t>(holders->size()), "holder", "holders") + " of the gate"}}));
    const page rows = render_gate_locks(*holders, most_holders, "  ");
    result.insert(result.end(), rows.begin(), rows.end());
  }
  const bool possible = is_true_at(*plan, "/possible");
  result.push_back(labelled(
      "next",
      {possible ? span{"nothing would refuse it: gatectl flip " + text_or_dash(answer, "/to"), style::good}
                : span{"it would be refused; mend what is marked NO", style::bad}}));
  return result;
}

} // namespace ledgergate::ctl
