// gatectl as a whole, against an admin port that follows a script.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <vector>

#include "proxy/ctl/gatectl.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/ctl/scripted_admin.hpp"

namespace ledgergate::ctl {

class Gatectl : public testing::Test {
 protected:
  scripted_admin admin_;
  test_console console_;
  temporary_folder folder_;

  exit_code run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--admin", admin_.url()});
    return run_gatectl(
        arguments, [](const char*) { return std::nullopt; }, console_.terminal);
  }

  void at_a_terminal(const std::string& typed) {
    console_.terminal.in_is_terminal = true;
    console_.in.str(typed);
  }

  boost::json::value sent_body() {
    for (const auto& request : admin_.requests()) {
      if (request.method() == http::verb::post) return boost::json::parse(request.body());
    }
    return nullptr;
  }

  void expect_said(const std::ostringstream& stream, const std::vector<std::string>& parts) {
    for (const auto& part : parts)
      EXPECT_NE(stream.str().find(part), std::string::npos) << part << " in\n" << stream.str();
  }

  static std::string error_body(const std::string& code, const std::string& more = {}) {
    return R"({"error":{"code":")" + code + R"(","message":"what happened","hint":"what to do")" + more +
           "}}";
  }
};

} // namespace ledgergate::ctl
