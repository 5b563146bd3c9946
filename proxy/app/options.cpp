#include "proxy/app/options.hpp"

#include <boost/program_options.hpp>

#include <sstream>

namespace ledgergate::app {

namespace po = boost::program_options;

namespace {

po::options_description describe() {
  po::options_description all("ledgergate --config FILE [--check-config]");
  auto add = all.add_options();
  add("config", po::value<std::string>()->value_name("FILE"), "the configuration, ledgergate.yaml");
  add("check-config", "check the configuration, print what is in force with each default marked, and end");
  add("version", "print the version and end");
  add("help", "print this and end");
  return all;
}

} // namespace

std::variant<options, usage_error> read_options(int argument_count, const char* const* arguments) {
  const po::options_description all = describe();
  po::variables_map given;
  try {
    const po::positional_options_description none;
    po::store(po::command_line_parser(argument_count, arguments).options(all).positional(none).run(), given);
    po::notify(given);
  } catch (const po::error& error) { // the library has no other way to say it
    return usage_error{error.what()};
  }
  options read;
  if (given.contains("help")) {
    read.what = action::show_help;
    return read;
  }
  if (given.contains("version")) {
    read.what = action::show_version;
    return read;
  }
  if (!given.contains("config")) return usage_error{"--config FILE is missing"};
  read.config_file = given["config"].as<std::string>();
  if (given.contains("check-config")) read.what = action::check_config;
  return read;
}

std::string help_text() {
  std::ostringstream text;
  text << describe();
  return text.str();
}

} // namespace ledgergate::app
