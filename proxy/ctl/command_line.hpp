// What the operator typed, read strictly: abbreviations are not guessed, and nothing that is not understood
// is passed over.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proxy/ctl/admin_address.hpp"
#include "proxy/ctl/admin_client.hpp"

namespace ledgergate::ctl {

enum class output_format { text, json };

/// `-w`: show once, or again and again until Ctrl-C.
enum class repetition { once, watch };

struct status_command {
  repetition repeat = repetition::once;
};

struct pins_command {
  repetition repeat = repetition::once;
};

struct sessions_command {
  repetition repeat = repetition::once;
};

struct history_command {};

struct drain_command {};

struct reload_command {};

struct catalog_command {};
struct observe_command {};

struct explain_command {
  std::string sql; ///< `-`: it comes from standard input
  std::optional<std::string> schema;
};

struct cancel_command {
  std::string id;
};

/// What `install` and `uninstall` put into the database or take out of it.
struct install_command {
  enum class direction { in, out };
  enum direction direction = direction::in;
  std::string guards;             ///< `refuse`, `pin` or `none`
  bool print = false;             ///< show the SQL, do nothing
  std::optional<std::string> dsn; ///< of a role that may create a schema and triggers
  bool confirmed = false;
};

/// Whether the operator is asked to type the target mode.
enum class confirmation { ask, given };

/// A change, the rehearsal of one, or its plan: they take the same options. The texts are sent as they were
/// typed; the sidecar checks modes, durations and ranges.
struct flip_command {
  std::string to;
  std::optional<std::string> from;
  std::optional<std::string> expect_version;
  std::optional<std::string> queue_budget;
  std::optional<std::string> deadline;
  std::optional<std::string> reason;
  std::optional<std::string> request_id;
  bool rehearse = false;
  confirmation confirm = confirmation::ask;
};

struct plan_command {
  flip_command change;
};

using command = std::variant<status_command, pins_command, sessions_command, history_command, plan_command,
                             flip_command, cancel_command, drain_command, reload_command, catalog_command,
                             observe_command, explain_command, install_command>;

struct invocation {
  admin_address address;
  client_tls tls;
  std::optional<std::string> token_file;
  output_format format = output_format::text;
  command what;
};

/// `--help` and `--version`: a text for standard output and success.
struct information {
  std::string text;
};

struct usage_error {
  std::string message;
  std::string hint;
};

/// Looks up an environment variable.
using environment = std::function<std::optional<std::string>(const char* name)>;

/// `arguments` without the program's name. GATECTL_ADMIN, GATECTL_CA, GATECTL_CERT, GATECTL_KEY and
/// GATECTL_TOKEN_FILE stand in for absent options.
[[nodiscard]] std::variant<invocation, information, usage_error>
parse_command_line(const std::vector<std::string>& arguments, const environment& variables);

} // namespace ledgergate::ctl
