// What would have been pinned.
#include <string>
#include <vector>

#include "proxy/ctl/render.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_statement = 100;

std::string cell(const json::value& value, std::string_view pointer, std::size_t columns = 30) {
  return shortened(text_at(value, pointer).value_or("-"), columns);
}

} // namespace

page render_observe(const json::value& observed) {
  const std::string mode = text_at(observed, "/gate_mode").value_or("?");
  page result{{{"gate.mode " + mode, mode == "observe" ? style::strong : style::warning},
               {", since " + text_at(observed, "/since").value_or("?")}}};
  if (mode != "observe") result.push_back({{"only gate.mode observe adds to this", style::faint}});
  const json::array* list = array_at(observed, "/statements");
  if (list == nullptr || list->empty()) {
    result.push_back({{"nothing was seen that would have been pinned"}});
    return result;
  }
  std::vector<std::vector<std::string>> rows{
      {"USER", "APPLICATION", "VERDICT", "BY", "NAME", "TIMES", "PINNED, AVERAGE", "LONGEST", "STATEMENT"}};
  for (const json::value& each : *list) {
    rows.push_back({cell(each, "/user"), cell(each, "/application"), cell(each, "/verdict"),
                    cell(each, "/reason"), cell(each, "/name"), number_cell(each, "/executions"),
                    duration_cell(each, "/pin/average_ms"), duration_cell(each, "/pin/longest_ms"),
                    cell(each, "/statement", longest_statement)});
  }
  for (auto& each : table(rows, ""))
    result.push_back(std::move(each));
  if (const auto more = number_at(observed, "/left_out"); more && *more > 0)
    result.push_back({{std::to_string(*more) + " executions of further statements were only counted"}});
  return result;
}

} // namespace ledgergate::ctl
