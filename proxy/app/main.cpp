// ledgergate: the sidecar's process.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/build_information.hpp"
#include "config/describe.hpp"
#include "config/load.hpp"
#include "proxy/app/application.hpp"
#include "proxy/app/certificates.hpp"
#include "proxy/app/options.hpp"
#include "proxy/observe/log.hpp"

namespace {

using namespace ledgergate;

int run(config::settings settings, const std::string& file,
        std::shared_ptr<const tls::context_set> certificates) {
  observe::set_up_log(settings.log);
  app::application application(std::move(settings), file, std::move(certificates));
  const std::vector<std::string> errors = application.open();
  for (const std::string& each : errors)
    std::cerr << "ledgergate: " << each << '\n';
  if (!errors.empty()) return app::exit_start;
  application.run();
  return EXIT_SUCCESS;
}

int act(const app::options& options) {
  if (options.what == app::action::show_help) {
    std::cout << app::help_text();
    return EXIT_SUCCESS;
  }
  if (options.what == app::action::show_version) {
    std::cout << "ledgergate " << config::version_text() << '\n';
    return EXIT_SUCCESS;
  }
  config::load_result loaded = config::load_file(options.config_file);
  if (!loaded) {
    std::cerr << config::to_string(loaded.error());
    return app::exit_config;
  }
  const app::certificates_result certificates = app::load_certificates(*loaded, options.config_file);
  if (!certificates) {
    std::cerr << config::to_string(certificates.error());
    return app::exit_config;
  }
  if (options.what == app::action::check_config) {
    std::cout << config::describe(*loaded);
    return EXIT_SUCCESS;
  }
  return run(std::move(*loaded), options.config_file, *certificates);
}

} // namespace

int main(int argument_count, char** arguments) {
  const auto read = app::read_options(argument_count, arguments);
  if (const auto* error = std::get_if<app::usage_error>(&read)) {
    std::cerr << "ledgergate: " << error->message << "\n\n" << app::help_text();
    return app::exit_usage;
  }
  // Only set-up can throw: what the kernel or a library refuses at start.
  try {
    return act(std::get<app::options>(read));
  } catch (const std::exception& error) {
    std::cerr << "ledgergate: " << error.what() << '\n';
    return app::exit_start;
  }
}
