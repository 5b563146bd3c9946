#include "proxy/ctl/explain_command.hpp"

#include <istream>
#include <iterator>
#include <ostream>
#include <string>

#include <boost/json/serialize.hpp>

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
  if (const auto* error = std::get_if<client_error>(&result)) {
    report(terminal, *error);
    return exit_code::refused;
  }
  const auto& answer = std::get<admin_answer>(result);
  if (answer.status != 200) {
    report(terminal, answer, format);
    return exit_code::refused;
  }
  if (format == output_format::json) {
    terminal.out << boost::json::serialize(answer.body) << '\n' << std::flush;
  } else {
    print(terminal, render_explanation(answer.body));
  }
  return exit_code::done;
}

} // namespace ledgergate::ctl
