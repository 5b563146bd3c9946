#include "proxy/ctl/explain_command.hpp"

#include <istream>
#include <iterator>
#include <string>

#include <boost/json/object.hpp>

#include "proxy/ctl/render.hpp"
#include "proxy/ctl/report.hpp"

namespace ledgergate::ctl {

exit_code explain(console& terminal, const admin_client& client, const explain_command& wanted,
                  output_format format) {
  std::string sql = wanted.sql;
  if (sql == "-") sql.assign(std::istreambuf_iterator<char>(terminal.in), std::istreambuf_iterator<char>());
  boost::json::object body{{"sql", sql}};
  if (wanted.schema) body["schema"] = *wanted.schema;
  const admin_result result = client.post("/v1/explain", body);
  if (const auto failed = failure_of(terminal, result, format)) return *failed;
  const boost::json::value& explanation = std::get<admin_answer>(result).body;
  if (format == output_format::json) {
    print_json(terminal, explanation);
  } else {
    print(terminal, render_explanation(explanation));
  }
  return exit_code::done;
}

} // namespace ledgergate::ctl
