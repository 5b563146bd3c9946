#include <algorithm>

#include "proxy/ctl/render.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

constexpr std::size_t bar_columns = 24;
constexpr std::size_t most_blockers = 8;

std::string text_or_dash(const json::value& value, std::string_view pointer) {
  return text_at(value, pointer).value_or("-");
}

std::string bar(std::int64_t left, std::int64_t total) {
  const double share =
      total > 0 ? std::clamp(static_cast<double>(left) / static_cast<double>(total), 0.0, 1.0) : 0.0;
  const auto full = static_cast<std::size_t>(share * static_cast<double>(bar_columns) + 0.5);
  return '[' + std::string(full, '#') + std::string(bar_columns - full, '.') + ']';
}

style look_of_rest(std::int64_t left, std::int64_t total) {
  if (left * 10 <= total) return style::bad;
  return left * 3 <= total ? style::warning : style::good;
}

/// A clock that does not run keeps its place on the screen.
line clock_line(const json::value& transition, std::string_view label, std::string_view pointer) {
  const json::value* clock = object_at(transition, pointer);
  if (clock == nullptr) return labelled(label, {{"not running", style::faint}});
  const std::int64_t left = number_at(*clock, "/left_ms").value_or(0);
  const std::int64_t total = number_at(*clock, "/total_ms").value_or(0);
  return labelled(label, {{bar(left, total), look_of_rest(left, total)},
                          {"  " + duration_text(left) + " of " + duration_text(total) + " left"}});
}

std::int64_t attempt_count(const json::value& transition) {
  const json::array* attempts = array_at(transition, "/attempts");
  return attempts == nullptr ? 0 : static_cast<std::int64_t>(attempts->size());
}

std::string change_text(const json::value& transition) {
  return text_or_dash(transition, "/from") + " -> " + text_or_dash(transition, "/to");
}

line writers_line(const json::value& transition) {
  const std::int64_t waiting = number_at(transition, "/pins_waiting").value_or(0);
  const std::int64_t longest = number_at(transition, "/timings/max_writer_wait").value_or(0);
  std::string text = std::to_string(waiting) + " waiting";
  if (longest > 0) text += ", longest wait so far " + duration_text(longest);
  return labelled("writers", {{std::move(text), waiting > 0 ? style::warning : style::plain}});
}

std::string blocker_text(const json::value& lock) {
  const auto pid = number_at(lock, "/pid");
  std::string text = pid ? "pid " + std::to_string(*pid) : "prepared " + text_or_dash(lock, "/prepared_gid");
  if (const auto age = number_at(lock, "/age_ms")) text += " for " + duration_text(*age);
  if (const auto state = text_at(lock, "/state")) text += ", " + *state;
  const auto application = text_at(lock, "/application").value_or("");
  if (!application.empty()) text += ", " + shortened(application, 24);
  return text;
}

void append(page& target, const page& more) { target.insert(target.end(), more.begin(), more.end()); }

/// The server's own words, under the outcome they caused.
void append_server_error(page& target, const json::value& transition) {
  const json::value* error = object_at(transition, "/server_error");
  if (error == nullptr) return;
  append(target, labelled_sentence("server", text_or_dash(*error, "/sqlstate") + ": " +
                                                 text_or_dash(*error, "/message")));
  if (const auto detail = text_at(*error, "/detail")) append(target, labelled_sentence("", *detail));
  if (const auto hint = text_at(*error, "/hint")) append(target, labelled_sentence("", *hint));
}

std::string advice_for(const json::value& transition) {
  const std::string reason = text_or_dash(transition, "/reason");
  if (reason == "deadline")
    return "gatectl pins shows who holds the gate; flip again, with a longer --deadline if need be";
  if (reason == "cancelled") return "it was asked to end; flip again when it suits";
  if (reason == "guard") return "the guard for this mode said no; mend what it checks, then flip again";
  if (reason == "step")
    return "everything was rolled back; mend the step in ledgergate.yaml, then flip again";
  if (reason == "harm") return "too many writers would have waited; flip again when there is less traffic";
  if (reason == "conflict") return "gatectl status shows what is in force now; decide again";
  return "gatectl status shows what is in force now";
}

} // namespace

std::string cost_text(const json::value& transition) {
  const auto timing = [&transition](const char* pointer) {
    return duration_text(number_at(transition, pointer).value_or(0));
  };
  return counted(attempt_count(transition), "attempt", "attempts") + ", queue wait " +
         timing("/timings/queue_wait") + ", hold " + timing("/timings/hold") + ", total " +
         timing("/timings/total") + ", longest writer wait " + timing("/timings/max_writer_wait");
}

page render_progress(const json::value& transition) {
  page result;
  result.push_back(labelled("transition", {{change_text(transition), style::strong},
                                           {"   " + text_or_dash(transition, "/id"), style::faint}}));
  std::string attempt;
  if (const std::int64_t count = attempt_count(transition); count > 0)
    attempt = "   attempt " + std::to_string(count);
  result.push_back(labelled("state", {{text_or_dash(transition, "/state"), style::strong}, {attempt}}));
  append(result, labelled_sentence("", text_at(transition, "/message").value_or("")));
  result.push_back(clock_line(transition, "deadline", "/clocks/deadline"));
  if (text_at(transition, "/state") == "holding") {
    result.push_back(clock_line(transition, "hold", "/clocks/hold"));
  } else {
    result.push_back(clock_line(transition, "queue", "/clocks/queue"));
  }
  result.push_back(writers_line(transition));
  const json::array* blockers = array_at(transition, "/blockers");
  if (blockers == nullptr || blockers->empty()) return result;
  result.push_back(labelled(
      "blockers",
      {{counted(static_cast<std::int64_t>(blockers->size()), "holder", "holders") + " of the gate"}}));
  append(result, render_gate_locks(*blockers, most_blockers, "  "));
  return result;
}

std::string progress_line(const json::value& transition) {
  std::string text = text_or_dash(transition, "/state");
  if (const std::int64_t count = attempt_count(transition); count > 0)
    text += ", attempt " + std::to_string(count);
  if (const auto left = number_at(transition, "/clocks/deadline/left_ms")) {
    text += ", deadline in " + duration_text(*left);
  }
  if (const auto left = number_at(transition, "/clocks/queue/left_ms"))
    text += ", queue budget " + duration_text(*left);
  if (const auto left = number_at(transition, "/clocks/hold/left_ms"))
    text += ", hold budget " + duration_text(*left);
  const std::int64_t waiting = number_at(transition, "/pins_waiting").value_or(0);
  if (waiting > 0) text += ", " + counted(waiting, "writer waits", "writers wait");
  const json::array* blockers = array_at(transition, "/blockers");
  if (blockers != nullptr && !blockers->empty()) {
    text += ", " + counted(static_cast<std::int64_t>(blockers->size()), "blocker", "blockers") + " (" +
            blocker_text(blockers->front()) + ')';
  }
  return text;
}

page render_outcome(const json::value& transition) {
  const std::string state = text_or_dash(transition, "/state");
  const std::string message = text_at(transition, "/message").value_or("");
  page result{labelled("transition",
                       {{change_text(transition)}, {"   " + text_or_dash(transition, "/id"), style::faint}})};
  if (state == "committed" && !is_true_at(transition, "/changed")) {
    return {labelled("done", {{"the mode is " + text_or_dash(transition, "/to") + " already", style::good}})};
  }
  if (state == "committed") {
    const auto version = text_at(transition, "/version_after");
    result.push_back(labelled("committed", {{"the mode is " + text_or_dash(transition, "/to"), style::good},
                                            {" (was " + text_or_dash(transition, "/from") +
                                             (version ? "), version " + *version : ")")}}));
    result.push_back(labelled("cost", {{cost_text(transition)}}));
    return result;
  }
  if (text_at(transition, "/result/outcome") == "rehearsed") {
    result.push_back(labelled("rehearsed", {{"everything but the commit went well", style::good},
                                            {"; the mode is still " + text_or_dash(transition, "/from")}}));
    result.push_back(labelled("cost", {{cost_text(transition)}}));
    append(result, labelled_sentence("next", "gatectl flip " + text_or_dash(transition, "/to") +
                                                 " does the same for good"));
    return result;
  }
  if (state == "aborted") {
    result.push_back(labelled("aborted", {{"the mode is unchanged", style::bad},
                                          {", reason: " + text_or_dash(transition, "/reason")}}));
    if (!message.empty()) append(result, labelled_sentence("", message));
    append_server_error(result, transition);
    result.push_back(labelled("cost", {{cost_text(transition)}}));
    append(result, labelled_sentence("next", advice_for(transition)));
    return result;
  }
  result.push_back(labelled("unknown", {{"the connection was lost during the commit", style::warning}}));
  if (!message.empty()) append(result, labelled_sentence("", message));
  result.push_back(
      labelled("next", {{"the sidecar asks the database as soon as it can; look at gatectl status"}}));
  return result;
}

} // namespace ledgergate::ctl
