// ledgergate with one rule of the gate, or one kind of link of the catalog closure, left out: the tests must
// notice. Never installed.
//
//   ledgergate_canary --list-rules | --list-links
//   ledgergate_canary --config FILE [--without-rule NAME] [--without-link NAME]
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/load.hpp"
#include "proxy/app/application.hpp"
#include "proxy/app/certificates.hpp"
#include "proxy/observe/log.hpp"

namespace {

using namespace ledgergate;

int usage(const std::string& problem) {
  std::cerr << "ledgergate_canary: " << problem
            << "\nusage: ledgergate_canary --list-rules | --list-links | --config FILE [--without-rule NAME] "
               "[--without-link NAME]\n";
  return 64;
}

int list_rules() {
  for (std::size_t i = 0; i < gate::gate_rule_count; ++i)
    std::cout << to_string(static_cast<gate::gate_rule>(i)) << '\n';
  return EXIT_SUCCESS;
}

int list_links() {
  for (std::size_t i = 0; i < catalog::link_kind_count; ++i)
    std::cout << to_string(static_cast<catalog::link_kind>(i)) << '\n';
  return EXIT_SUCCESS;
}

int run(const std::string& file, gate::rule_switch rules, catalog::link_switch links) {
  config::load_result loaded = config::load_file(file);
  if (!loaded) {
    std::cerr << config::to_string(loaded.error());
    return 78;
  }
  const app::certificates_result certificates = app::load_certificates(*loaded, file);
  if (!certificates) {
    std::cerr << config::to_string(certificates.error());
    return 78;
  }
  observe::set_up_log(loaded->log);
  app::application application(std::move(*loaded), file, *certificates, rules, links);
  const std::vector<std::string> errors = application.open();
  for (const std::string& each : errors)
    std::cerr << "ledgergate_canary: " << each << '\n';
  if (!errors.empty()) return EXIT_FAILURE;
  application.run();
  return EXIT_SUCCESS;
}

} // namespace

int main(int argument_count, char** arguments) {
  std::string file;
  gate::rule_switch rules;
  catalog::link_switch links;
  for (int i = 1; i < argument_count; ++i) {
    const std::string_view option = arguments[i];
    if (option == "--list-rules") return list_rules();
    if (option == "--list-links") return list_links();
    if (i + 1 == argument_count) return usage("a value is missing behind " + std::string(option));
    const std::string value = arguments[++i];
    if (option == "--config") {
      file = value;
    } else if (option == "--without-rule") {
      const auto rule = gate::rule_named(value);
      if (!rule) return usage("there is no rule " + value);
      rules.leave_out(*rule);
    } else if (option == "--without-link") {
      const auto kind = catalog::link_named(value);
      if (!kind) return usage("there is no kind of link " + value);
      links.leave_out(*kind);
    } else {
      return usage("unknown option " + std::string(option));
    }
  }
  if (file.empty()) return usage("--config is missing");
  try {
    return run(file, rules, links);
  } catch (const std::exception& error) {
    std::cerr << "ledgergate_canary: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
