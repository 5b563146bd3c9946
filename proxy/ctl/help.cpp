#include "proxy/ctl/help.hpp"

#include <sstream>

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

constexpr std::string_view explain_help = "gatectl explain SQL\n"
                                          "\n"
                                          "Says for a text whether it touches the ledger, through what, and "
                                          "how it would be pinned. Nothing is run.\n"
                                          "With - the text is read from standard input.\n"
                                          "\n"
                                          "  gatectl explain 'delete from accounts where id = 1'\n"
                                          "  gatectl explain - < migration.sql\n";

std::string_view description_of(std::string_view command) {
  if (command == "flip") return flip_help;
  if (command == "status") return status_help;
  if (command == "catalog") return catalog_help;
  if (command == "explain") return explain_help;
  return pins_help;
}

} // namespace

std::string version_text() { return "gatectl " LEDGERGATE_VERSION "\n"; }

std::string help_text(const boost::program_options::options_description& globals) {
  std::ostringstream text;
  text << "gatectl [options] COMMAND\n"
          "\n"
          "Looks at a ledgergate sidecar and changes the mode of the ledger through it.\n"
          "\n"
          "Commands (gatectl COMMAND --help says more):\n"
          "  status [-w]   the mode in force, pins, transitions, health\n"
          "  flip MODE     change the mode and watch it happen\n"
          "  pins [-w]     who holds the gate and who waits for it\n"
          "  catalog       what is gated and why\n"
          "  explain SQL   whether a text touches, through what, and how it is pinned\n"
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
