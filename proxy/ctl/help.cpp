#include "proxy/ctl/help.hpp"

#include <sstream>

#include "config/build_information.hpp"

namespace ledgergate::ctl {
namespace {

constexpr std::string_view exit_codes = "Exit codes:\n"
                                        "  0   done, or it was so already\n"
                                        "  2   refused, or the sidecar cannot be asked; nothing was touched\n"
                                        "  3   the transition was rolled back; the mode is unchanged\n"
                                        "  5   the outcome is not known yet, or watching was broken off\n"
                                        "  64  the command line makes no sense\n";

constexpr std::string_view flip_help =
    "gatectl flip MODE [options]\n"
    "\n"
    "Changes the mode of the ledger. The sidecar waits until it holds the gate alone, runs the guards and "
    "steps\n"
    "configured for MODE, changes the control row and commits; all of it or nothing. While it waits it shows "
    "who\n"
    "holds the gate, and writers never wait longer than the queue budget plus the time the gate is held.\n"
    "\n"
    "Asks to type the target mode unless --yes is given. Ctrl-C stops watching, not the transition.\n"
    "\n"
    "  gatectl flip ledger --token-file /run/secrets/admin-token\n"
    "  gatectl flip shadow --from ledger --deadline 1m --reason 'incident 12' --yes\n";

constexpr std::string_view plan_help =
    "gatectl plan MODE [options]\n"
    "\n"
    "Shows what a change to MODE would find now, without taking or touching anything: the mode and version "
    "in "
    "force,\n"
    "who holds the gate, what would refuse the change, and how long writers would wait. Exit code 2 when\n"
    "something would refuse it. gatectl flip MODE --rehearse goes further: everything but the commit.\n";

constexpr std::string_view cancel_help =
    "gatectl cancel ID\n"
    "\n"
    "Cancels a transition while it waits; writers go on at once. One that holds the gate ends by itself.\n";

constexpr std::string_view history_help =
    "gatectl history\n"
    "\n"
    "Lists the transitions that this sidecar knows, newest first. With the audit table (gatectl install) "
    "these "
    "are\n"
    "all changes of the fleet; without it those of this sidecar since it was started.\n";

constexpr std::string_view sessions_help =
    "gatectl sessions [-w]\n"
    "\n"
    "Lists the clients of this sidecar: who, in which state, pinned or "
    "not.\n";

constexpr std::string_view drain_help =
    "gatectl drain\n"
    "\n"
    "Ends clients as they become idle and takes no new ones. The sidecar stays and still carries out "
    "transitions;\n"
    "SIGTERM ends it.\n";

constexpr std::string_view reload_help = "gatectl reload\n"
                                         "\n"
                                         "The sidecar reads its ledgergate.yaml again, as on SIGHUP. Gated "
                                         "tables and functions, enforce or observe, "
                                         "modes,\n"
                                         "transitions, limits, drain and log change at once; sessions, and a "
                                         "transition that runs, go on. All of the "
                                         "file\n"
                                         "counts or nothing: with an error in it, or a change that needs a "
                                         "restart (ports, server, keys), everything "
                                         "stays\n"
                                         "as it was and every reason is shown.\n";

constexpr std::string_view install_help =
    "gatectl install [--print] [--dsn DSN] [--guards refuse|pin|none]\n"
    "gatectl uninstall [--print] [--dsn DSN]\n"
    "\n"
    "Puts the schema ledgergate into the ledger's database: the audit table, in which every change of the "
    "mode\n"
    "through a sidecar is recorded in its own transaction, and guard triggers on the configured tables, "
    "which\n"
    "make a write without the pin fail with SQLSTATE LG001 (refuse) or take the pin themselves (pin).\n"
    "uninstall takes out all of it, the history included. Both may be repeated. The SQL is shown before it "
    "is\n"
    "run. The DSN needs a role that owns the tables; the control role gets no more than it uses.\n"
    "\n"
    "  gatectl install --print | psql -X -v ON_ERROR_STOP=1 horde\n"
    "  gatectl install --dsn 'host=db.internal dbname=horde user=postgres'\n";

constexpr std::string_view status_help = "gatectl status [-w]\n"
                                         "\n"
                                         "Shows the mode in force and its version, the pins, the transition "
                                         "that runs and the last one that ended, and\n"
                                         "how the sidecar is.\n";

constexpr std::string_view pins_help =
    "gatectl pins [-w]\n"
    "\n"
    "Lists who holds the gate and who waits for it, oldest first. A transition waits for the holders; one "
    "that is\n"
    "idle in transaction, or a prepared transaction, may keep it waiting until somebody ends it.\n";

constexpr std::string_view catalog_help = "gatectl catalog\n"
                                          "\n"
                                          "Lists every name that is gated and why: configured, or because "
                                          "the system catalogs say that it leads to the\n"
                                          "ledger; and what cannot be looked into.\n";

constexpr std::string_view observe_help =
    "gatectl observe\n"
    "\n"
    "Lists what gate.mode observe has seen that would have been pinned: by client and statement, with how\n"
    "often, through which name, and for how long the pin would have been held. Constants are left out.\n";

constexpr std::string_view explain_help = "gatectl explain SQL\n"
                                          "\n"
                                          "Says for a text whether it touches the ledger, through what, and "
                                          "how it would be pinned. Nothing is run.\n"
                                          "With - the text is read from standard input.\n"
                                          "\n"
                                          "  gatectl explain 'delete from accounts where id = 1'\n"
                                          "  gatectl explain - < migration.sql\n";

struct command_help {
  std::string_view name;
  std::string_view text;
};

constexpr command_help command_helps[] = {
    {"status", status_help},     {"plan", plan_help},         {"flip", flip_help},
    {"cancel", cancel_help},     {"history", history_help},   {"pins", pins_help},
    {"sessions", sessions_help}, {"catalog", catalog_help},   {"observe", observe_help},
    {"explain", explain_help},   {"drain", drain_help},       {"reload", reload_help},
    {"install", install_help},   {"uninstall", install_help},
};

std::string_view description_of(std::string_view command) {
  for (const command_help& known : command_helps) {
    if (known.name == command) return known.text;
  }
  return {};
}

} // namespace

std::string version_text() { return "gatectl " + config::version_text() + "\n"; }

std::string help_text(const boost::program_options::options_description& globals) {
  std::ostringstream text;
  text << "gatectl [options] COMMAND\n"
          "\n"
          "Looks at a ledgergate sidecar and changes the mode of the ledger through it.\n"
          "\n"
          "Commands (gatectl COMMAND --help says more):\n"
          "  status [-w]   the mode in force, pins, transitions, health\n"
          "  plan MODE     what a change would find now, and what would refuse it\n"
          "  flip MODE     change the mode and watch it happen\n"
          "  cancel ID     cancel a transition while it waits\n"
          "  history       the transitions that have been, newest first\n"
          "  pins [-w]     who holds the gate and who waits for it\n"
          "  sessions [-w] the clients of this sidecar\n"
          "  catalog       what is gated and why\n"
          "  observe       what would have been pinned, in gate.mode observe\n"
          "  explain SQL   whether a text touches, through what, and how it is pinned\n"
          "  drain         end clients as they become idle, take no new ones\n"
          "  reload        read ledgergate.yaml again; sessions and transitions go on\n"
          "  install       audit table and guard triggers; uninstall takes them out\n"
          "\n"
       << globals << '\n'
       << exit_codes;
  return text.str();
}

std::string command_help_text(std::string_view command,
                              const boost::program_options::options_description& options,
                              const boost::program_options::options_description& globals) {
  std::ostringstream text;
  text << description_of(command) << '\n' << options << '\n' << globals << '\n' << exit_codes;
  return text.str();
}

} // namespace ledgergate::ctl
