// The command line of ledgergate.
#pragma once

#include <optional>
#include <string>
#include <variant>

namespace ledgergate::app {

enum class action { run, check_config, show_version, show_help };

struct options {
  action what = action::run;
  std::string config_file;
};

struct usage_error {
  std::string message;
};

std::variant<options, usage_error> read_options(int argument_count, const char* const* arguments);
std::string help_text();

/// Process exit codes; the ones of sysexits.h where there is one.
inline constexpr int exit_usage = 64;
inline constexpr int exit_config = 78;
inline constexpr int exit_start = 1;

} // namespace ledgergate::app
