#include "proxy/app/options.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace ledgergate::app {
namespace {

std::variant<options, usage_error> read(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "ledgergate");
  return read_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, RunsWithAConfigurationFile) {
  const auto given = std::get<options>(read({"--config", "a.yaml"}));
  EXPECT_EQ(given.what, action::run);
  EXPECT_EQ(given.config_file, "a.yaml");
}

TEST(Options, ChecksTheConfigurationInAnyOrder) {
  const auto given = std::get<options>(read({"--check-config", "--config=a.yaml"}));
  EXPECT_EQ(given.what, action::check_config);
  EXPECT_EQ(given.config_file, "a.yaml");
}

TEST(Options, ShowsVersionAndHelpWithoutAConfiguration) {
  EXPECT_EQ(std::get<options>(read({"--version"})).what, action::show_version);
  EXPECT_EQ(std::get<options>(read({"--help"})).what, action::show_help);
}

TEST(Options, RefusesWhatItDoesNotKnow) {
  for (const auto& wrong : std::vector<std::vector<const char*>>{{},
                                                                 {"--check-config"},
                                                                 {"--config"},
                                                                 {"--config", "a", "--wrong"},
                                                                 {"a.yaml"},
                                                                 {"--config", "a", "b"}}) {
    EXPECT_TRUE(std::holds_alternative<usage_error>(read(wrong)));
  }
}

TEST(Options, NamesEveryOptionInItsHelp) {
  for (const char* each : {"--config", "--check-config", "--version", "--help"}) {
    EXPECT_THAT(help_text(), testing::HasSubstr(each));
  }
}

} // namespace
} // namespace ledgergate::app
