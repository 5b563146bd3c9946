#include "proxy/ctl/command_line.hpp"

#include <algorithm>
#include <utility>

#include <boost/program_options.hpp>

#include "proxy/ctl/help.hpp"

namespace ledgergate::ctl {
namespace {

namespace po = boost::program_options;

constexpr int strict_style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

po::options_description global_options() {
  po::options_description options("Options for every command");
  options.add_options()("admin", po::value<std::string>()->value_name("URL"),
                        "admin port, http://HOST:PORT, https://HOST:PORT or unix:/PATH (default "
                        "$GATECTL_ADMIN, else http://127.0.0.1:6433)")(
      "ca", po::value<std::string>()->value_name("FILE"),
      "https: who may have issued the sidecar's certificate (default $GATECTL_CA, else the system's list)")(
      "cert", po::value<std::string>()->value_name("FILE"),
      "https: certificate of yours, for a sidecar that asks for one (default $GATECTL_CERT)")(
      "key", po::value<std::string>()->value_name("FILE"),
      "its key (default $GATECTL_KEY, else in the same file)")(
      "token-file", po::value<std::string>()->value_name("FILE"),
      "file with the operator's token (default $GATECTL_TOKEN_FILE)")(
      "output,o", po::value<std::string>()->value_name("text|json")->default_value("text", ""),
      "for people (text) or for programs (json)")("help,h", "show this help")("version", "show the version");
  return options;
}

po::options_description watch_options() {
  po::options_description options("Options of the command");
  options.add_options()("watch,w", "show it again and again until Ctrl-C");
  return options;
}

po::options_description no_options() { return po::options_description(); }

po::options_description explain_options() {
  po::options_description options("Options of the command");
  options.add_options()("schema", po::value<std::string>()->value_name("S"),
                        "show the paths of names that are written without a schema in this one");
  return options;
}

po::options_description plan_options() {
  po::options_description options("Options of the command");
  options.add_options()("from", po::value<std::string>()->value_name("MODE"),
                        "refuse unless this mode is in force now")(
      "expect-version", po::value<std::string>()->value_name("V"),
      "refuse unless the control row still has this version (see status)")(
      "queue-budget", po::value<std::string>()->value_name("D"),
      "how long one attempt may make writers wait, 10ms to 60s")(
      "deadline", po::value<std::string>()->value_name("D"), "for the whole request, 100ms to 10m");
  return options;
}

po::options_description flip_options() {
  po::options_description options = plan_options();
  options.add_options()("reason", po::value<std::string>()->value_name("T"),
                        "why, for the log and the history")(
      "request-id", po::value<std::string>()->value_name("ID"),
      "a name for this request: sent again, it starts nothing anew")(
      "rehearse", "do everything but the commit, then roll back; writers wait as in a real change")(
      "yes,y", "do not ask; for scripts");
  return options;
}

po::options_description uninstall_options() {
  po::options_description options("Options of the command");
  options.add_options()("dsn", po::value<std::string>()->value_name("DSN"),
                        "libpq connection string of a role that owns the ledger's tables")(
      "print", "show the SQL and do nothing")("yes,y", "do not ask; for scripts");
  return options;
}

po::options_description install_options() {
  po::options_description options = uninstall_options();
  options.add_options()("guards",
                        po::value<std::string>()->value_name("refuse|pin|none")->default_value("refuse", ""),
                        "what becomes of a write without the pin: it fails, takes the pin itself, or passes");
  return options;
}

std::optional<std::string> text_of(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return std::nullopt;
  return values[name].as<std::string>();
}

repetition repetition_of(const po::variables_map& values) {
  return values.count("watch") != 0 ? repetition::watch : repetition::once;
}

flip_command flip_of(const po::variables_map& values) {
  flip_command wanted;
  wanted.to = values["MODE"].as<std::string>();
  wanted.from = text_of(values, "from");
  wanted.expect_version = text_of(values, "expect-version");
  wanted.queue_budget = text_of(values, "queue-budget");
  wanted.deadline = text_of(values, "deadline");
  wanted.reason = text_of(values, "reason");
  wanted.request_id = text_of(values, "request-id");
  wanted.rehearse = values.count("rehearse") != 0;
  wanted.confirm = values.count("yes") != 0 ? confirmation::given : confirmation::ask;
  return wanted;
}

install_command install_of(const po::variables_map& values, enum install_command::direction direction) {
  install_command wanted;
  wanted.direction = direction;
  wanted.guards = text_of(values, "guards").value_or("none");
  wanted.print = values.count("print") != 0;
  wanted.dsn = text_of(values, "dsn");
  wanted.confirmed = values.count("yes") != 0;
  return wanted;
}

/// One command: its name, its own options, what stands behind its name, and how its values are read.
struct command_syntax {
  std::string_view name;
  po::options_description (*options)();
  const char* operand; ///< name of its one operand, or null
  command (*read)(const po::variables_map& values);
};

const command_syntax commands[] = {
    {"status", watch_options, nullptr,
     [](const po::variables_map& values) -> command { return status_command{repetition_of(values)}; }},
    {"plan", plan_options, "MODE",
     [](const po::variables_map& values) -> command { return plan_command{flip_of(values)}; }},
    {"flip", flip_options, "MODE",
     [](const po::variables_map& values) -> command { return flip_of(values); }},
    {"cancel", no_options, "ID",
     [](const po::variables_map& values) -> command {
       return cancel_command{values["ID"].as<std::string>()};
     }},
    {"history", no_options, nullptr, [](const po::variables_map&) -> command { return history_command{}; }},
    {"sessions", watch_options, nullptr,
     [](const po::variables_map& values) -> command { return sessions_command{repetition_of(values)}; }},
    {"drain", no_options, nullptr, [](const po::variables_map&) -> command { return drain_command{}; }},
    {"reload", no_options, nullptr, [](const po::variables_map&) -> command { return reload_command{}; }},
    {"install", install_options, nullptr,
     [](const po::variables_map& values) -> command {
       return install_of(values, install_command::direction::in);
     }},
    {"uninstall", uninstall_options, nullptr,
     [](const po::variables_map& values) -> command {
       return install_of(values, install_command::direction::out);
     }},
    {"pins", watch_options, nullptr,
     [](const po::variables_map& values) -> command { return pins_command{repetition_of(values)}; }},
    {"observe", no_options, nullptr, [](const po::variables_map&) -> command { return observe_command{}; }},
    {"catalog", no_options, nullptr, [](const po::variables_map&) -> command { return catalog_command{}; }},
    {"explain", explain_options, "SQL",
     [](const po::variables_map& values) -> command {
       return explain_command{values["SQL"].as<std::string>(), text_of(values, "schema")};
     }},
};

/// Where the command's name stands: the first argument that is neither an option nor the value of one.
std::vector<std::string>::const_iterator find_command(const std::vector<std::string>& arguments) {
  for (auto at = arguments.begin(); at != arguments.end(); ++at) {
    if (!at->starts_with('-')) return at;
    const bool takes_next = *at == "--admin" || *at == "--ca" || *at == "--cert" || *at == "--key" ||
                            *at == "--token-file" || *at == "-o" || *at == "--output";
    if (takes_next && at + 1 != arguments.end()) ++at;
  }
  return arguments.end();
}

using parsed = std::variant<po::variables_map, usage_error>;

parsed parse(const std::vector<std::string>& arguments, const command_syntax* syntax) {
  po::options_description options = global_options();
  po::positional_options_description operands;
  if (syntax != nullptr) {
    options.add(syntax->options());
    if (syntax->operand != nullptr) {
      options.add_options()(syntax->operand, po::value<std::string>());
      operands.add(syntax->operand, 1);
    }
  }
  try {
    po::variables_map values;
    po::store(
        po::command_line_parser(arguments).options(options).positional(operands).style(strict_style).run(),
        values);
    return values;
  } catch (const po::too_many_positional_options_error&) {
    return usage_error{"there are too many words behind the command", {}};
  } catch (const po::error& error) {
    return usage_error{error.what(), {}};
  }
}

std::variant<invocation, usage_error> read_globals(const po::variables_map& values,
                                                   const environment& variables) {
  invocation result;
  const std::string url =
      text_of(values, "admin").value_or(variables("GATECTL_ADMIN").value_or(std::string(default_admin_url)));
  auto address = parse_admin_address(url);
  if (const auto* error = std::get_if<admin_address_error>(&address)) return usage_error{error->message, {}};
  result.address = std::get<admin_address>(std::move(address));
  const auto given = [&](const char* option, const char* variable) {
    const auto text = text_of(values, option);
    return text ? text : variables(variable);
  };
  result.tls = {given("ca", "GATECTL_CA"), given("cert", "GATECTL_CERT"), given("key", "GATECTL_KEY")};
  result.token_file = text_of(values, "token-file");
  if (!result.token_file) result.token_file = variables("GATECTL_TOKEN_FILE");
  const std::string format = values["output"].as<std::string>();
  if (format != "text" && format != "json")
    return usage_error{"'-o' takes text or json, not '" + format + "'", {}};
  result.format = format == "json" ? output_format::json : output_format::text;
  return result;
}

} // namespace

std::variant<invocation, information, usage_error>
parse_command_line(const std::vector<std::string>& arguments, const environment& variables) {
  const auto at = find_command(arguments);
  const command_syntax* syntax = nullptr;
  if (at != arguments.end()) {
    const auto* found = std::find_if(std::begin(commands), std::end(commands),
                                     [&at](const command_syntax& known) { return known.name == *at; });
    if (found == std::end(commands)) {
      return usage_error{
          "'" + *at + "' is not a command",
          "the commands are status, plan, flip, cancel, history, pins, sessions, catalog, observe, "
          "explain, drain, reload, install and uninstall"};
    }
    syntax = found;
  }
  std::vector<std::string> rest(arguments.begin(), at);
  if (at != arguments.end()) rest.insert(rest.end(), at + 1, arguments.end());

  const std::string help_hint =
      syntax != nullptr ? "see gatectl " + std::string(syntax->name) + " --help" : "see gatectl --help";
  parsed read = parse(rest, syntax);
  if (auto* error = std::get_if<usage_error>(&read)) return usage_error{error->message, help_hint};
  const auto& values = std::get<po::variables_map>(read);
  if (values.count("help") != 0) {
    if (syntax == nullptr) return information{help_text(global_options())};
    return information{command_help_text(syntax->name, syntax->options(), global_options())};
  }
  if (values.count("version") != 0) return information{version_text()};
  if (syntax == nullptr) return usage_error{"there is no command", help_hint};
  if (syntax->operand != nullptr && values.count(syntax->operand) == 0) {
    return usage_error{std::string(syntax->name) + " needs a " + syntax->operand, help_hint};
  }
  auto globals = read_globals(values, variables);
  if (auto* error = std::get_if<usage_error>(&globals)) return usage_error{error->message, help_hint};
  auto result = std::get<invocation>(std::move(globals));
  result.what = syntax->read(values);
  return result;
}

} // namespace ledgergate::ctl
