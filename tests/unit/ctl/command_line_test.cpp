#include "proxy/ctl/command_line.hpp"

#include <gtest/gtest.h>

#include <map>

namespace ledgergate::ctl {
namespace {

using words = std::vector<std::string>;
using variables = std::map<std::string, std::string>;

auto parse(const words& arguments, const variables& set = {}) {
  return parse_command_line(arguments, [&set](const char* name) -> std::optional<std::string> {
    const auto found = set.find(name);
    if (found == set.end()) return std::nullopt;
    return found->second;
  });
}

invocation accepted(const words& arguments, const variables& set = {}) {
  const auto result = parse(arguments, set);
  if (const auto* error = std::get_if<usage_error>(&result)) ADD_FAILURE() << error->message;
  return std::holds_alternative<invocation>(result) ? std::get<invocation>(result) : invocation{};
}

std::string refusal(const words& arguments, const variables& set = {}) {
  const auto result = parse(arguments, set);
  const auto* error = std::get_if<usage_error>(&result);
  if (error == nullptr) return "accepted";
  EXPECT_FALSE(error->hint.empty());
  return error->message;
}

std::string text_of(const words& arguments) {
  const auto result = parse(arguments);
  return std::holds_alternative<information>(result) ? std::get<information>(result).text : "no information";
}

TEST(CommandLine, HasItsDefaults) {
  const auto call = accepted({"status"});
  EXPECT_EQ(to_string(call.address), "http://127.0.0.1:6433");
  EXPECT_FALSE(call.token_file);
  EXPECT_EQ(call.format, output_format::text);
  EXPECT_EQ(std::get<status_command>(call.what).repeat, repetition::once);
}

TEST(CommandLine, TakesOptionsBeforeAndBehindTheCommand) {
  for (const words& arguments :
       {words{"--admin", "unix:/run/a", "-o", "json", "--token-file", "t", "pins", "-w"},
        words{"pins", "-w", "--admin", "unix:/run/a", "-o", "json", "--token-file", "t"},
        words{"--admin=unix:/run/a", "pins", "--output=json", "--watch", "--token-file=t"}}) {
    const auto call = accepted(arguments);
    EXPECT_EQ(call.address.unix_path, "/run/a");
    EXPECT_EQ(call.format, output_format::json);
    EXPECT_EQ(call.token_file, "t");
    EXPECT_EQ(std::get<pins_command>(call.what).repeat, repetition::watch);
  }
}

TEST(CommandLine, ReadsEveryOptionOfFlip) {
  const auto call = accepted({"flip", "ledger", "--from", "shadow", "--expect-version", "731",
                              "--queue-budget", "200ms", "--deadline", "1m", "--reason", "week 49", "--yes"});
  const auto& wanted = std::get<flip_command>(call.what);
  EXPECT_EQ(wanted.to, "ledger");
  EXPECT_EQ(wanted.from, "shadow");
  EXPECT_EQ(wanted.expect_version, "731");
  EXPECT_EQ(wanted.queue_budget, "200ms");
  EXPECT_EQ(wanted.deadline, "1m");
  EXPECT_EQ(wanted.reason, "week 49");
  EXPECT_EQ(wanted.confirm, confirmation::given);
}

TEST(CommandLine, AsksUnlessTold) {
  const auto call = accepted({"flip", "ledger"});
  EXPECT_EQ(std::get<flip_command>(call.what).confirm, confirmation::ask);
  EXPECT_FALSE(std::get<flip_command>(call.what).from);
}

TEST(CommandLine, TakesTheEnvironmentWhereAnOptionIsAbsent) {
  const variables set{{"GATECTL_ADMIN", "unix:/env"}, {"GATECTL_TOKEN_FILE", "env-token"}};
  EXPECT_EQ(accepted({"status"}, set).address.unix_path, "/env");
  EXPECT_EQ(accepted({"status"}, set).token_file, "env-token");
  EXPECT_EQ(accepted({"status", "--admin", "unix:/option"}, set).address.unix_path, "/option");
  EXPECT_EQ(accepted({"status", "--token-file", "option"}, set).token_file, "option");
}

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal({}), "there is no command");
  EXPECT_EQ(refusal({"plann", "ledger"}), "'plann' is not a command");
  EXPECT_NE(refusal({"status", "--from", "shadow"}).find("--from"), std::string::npos);
  EXPECT_NE(refusal({"flip", "ledger", "--ye"}).find("--ye"), std::string::npos);
  EXPECT_NE(refusal({"flip", "ledger", "--dedline", "1s"}).find("--dedline"), std::string::npos);
  EXPECT_EQ(refusal({"flip", "ledger", "shadow"}), "there are too many words behind the command");
  EXPECT_EQ(refusal({"status", "now"}), "there are too many words behind the command");
}

TEST(CommandLine, RefusesWhatIsIncomplete) {
  EXPECT_EQ(refusal({"flip"}), "flip needs a MODE");
  EXPECT_NE(refusal({"flip", "ledger", "--from"}), "accepted");
  EXPECT_NE(refusal({"status", "--admin"}), "accepted");
  EXPECT_EQ(refusal({"status", "-o", "xml"}), "'-o' takes text or json, not 'xml'");
  EXPECT_NE(refusal({"status", "--admin", "localhost:6433"}).find("it has no scheme"), std::string::npos);
  EXPECT_NE(refusal({"status"}, {{"GATECTL_ADMIN", "nonsense"}}).find("nonsense"), std::string::npos);
}

TEST(CommandLine, ExplainsItself) {
  EXPECT_NE(text_of({"--help"}).find("Commands"), std::string::npos);
  EXPECT_NE(text_of({"flip", "--help"}).find("--queue-budget"), std::string::npos);
  EXPECT_NE(text_of({"status", "-h"}).find("gatectl status"), std::string::npos);
  EXPECT_NE(text_of({"pins", "--help"}).find("gatectl pins"), std::string::npos);
  EXPECT_EQ(text_of({"--version"}).rfind("gatectl ", 0), 0u);
}

TEST(AdminAddress, ReadsEveryForm) {
  const auto form = [](const char* text) {
    const auto parsed = parse_admin_address(text);
    return std::holds_alternative<admin_address>(parsed) ? to_string(std::get<admin_address>(parsed))
                                                         : "refused";
  };
  EXPECT_EQ(form("http://127.0.0.1:7000"), "http://127.0.0.1:7000");
  EXPECT_EQ(form("http://gate.example"), "http://gate.example:6433");
  EXPECT_EQ(form("http://gate.example/"), "http://gate.example:6433");
  EXPECT_EQ(form("http://[::1]:7000"), "http://[::1]:7000");
  EXPECT_EQ(form("http://[::1]"), "http://[::1]:6433");
  EXPECT_EQ(form("unix:/run/gate.sock"), "unix:/run/gate.sock");
}

TEST(AdminAddress, RefusesTheRestWithTheFormsItTakes) {
  for (const char* text :
       {"", "127.0.0.1:6433", "ftp://h", "http://", "http://:1", "http://h:", "http://h:0",
        "http://h:65536", "http://h:1x", "http://h:1/v1", "http://u@h", "http://[::1", "http://[::1]1",
        "http://h:-1", "unix:", "http://a b"}) {
    const auto parsed = parse_admin_address(text);
    const auto* error = std::get_if<admin_address_error>(&parsed);
    ASSERT_NE(error, nullptr) << text;
    EXPECT_NE(error->message.find("unix:/PATH"), std::string::npos) << error->message;
  }
}

} // namespace
} // namespace ledgergate::ctl
