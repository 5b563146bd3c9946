// History and sessions as tables.
#include "proxy/ctl/render.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_reason = 40;

std::string cell(const json::value& value, std::string_view pointer, std::size_t columns = 40) {
  return shortened(text_at(value, pointer).value_or("-"), columns);
}

/// `committed`, `aborted (deadline)`, `rehearsed`, or the state of one that runs.
std::string outcome_of(const json::value& transition) {
  const auto outcome = text_at(transition, "/result/outcome");
  const auto reason = text_at(transition, "/reason");
  if (reason) return outcome.value_or("aborted") + " (" + *reason + ")";
  if (outcome == "committed" && !is_true_at(transition, "/changed")) return "was so already";
  return outcome.value_or(text_at(transition, "/state").value_or("-"));
}

} // namespace

page render_history(const json::value& history) {
  const json::array* list = array_at(history, "/transitions");
  if (list == nullptr || list->empty()) return {{{"no transition is known here"}}};
  std::vector<std::vector<std::string>> rows{
      {"STARTED", "FROM", "TO", "OUTCOME", "TOTAL", "HOLD", "WRITER WAIT", "BY", "REASON", "ID"}};
  for (const json::value& each : *list) {
    rows.push_back({cell(each, "/started_at"), cell(each, "/from"), cell(each, "/to"), outcome_of(each),
                    duration_cell(each, "/timings/total"), duration_cell(each, "/timings/hold"),
                    duration_cell(each, "/timings/max_writer_wait"), cell(each, "/request/requested_by"),
                    cell(each, "/request/reason", longest_reason), cell(each, "/id")});
  }
  return table(rows, "");
}

page render_sessions(const json::value& sessions) {
  const json::array* list = array_at(sessions, "/sessions");
  const std::size_t count = list == nullptr ? 0 : list->size();
  page result{{{counted(static_cast<std::int64_t>(count), "session", "sessions"), style::strong}}};
  if (count == 0) return result;
  std::vector<std::vector<std::string>> rows{{"CLIENT", "USER", "DATABASE", "GATE", "STATE", "PINNED",
                                              "BACKEND", "AGE", "FROM CLIENT", "FROM SERVER"}};
  for (const json::value& each : *list) {
    rows.push_back({cell(each, "/client"), cell(each, "/user"), cell(each, "/database"), cell(each, "/gate"),
                    cell(each, "/state"), is_true_at(each, "/pinned") ? "yes" : "-",
                    number_cell(each, "/backend_pid"), duration_cell(each, "/age_ms"),
                    number_cell(each, "/bytes_from_client"), number_cell(each, "/bytes_from_server")});
  }
  const page more = table(rows, "  ");
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

} // namespace ledgergate::ctl
