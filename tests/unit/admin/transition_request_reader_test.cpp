#include "proxy/admin/transition_request_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ledgergate::admin {
namespace {

using namespace std::chrono_literals;

transition_call read_call(std::string_view body) {
  auto read = read_transition_request(body);
  if (const auto* error = std::get_if<api_error>(&read)) {
    ADD_FAILURE() << error->message;
    return {};
  }
  return std::get<transition_call>(std::move(read));
}

transition::transition_request accepted(std::string_view body) { return read_call(body).request; }

/// "code: message" of a refusal that must be a 400.
std::string refusal(std::string_view body) {
  const auto read = read_transition_request(body);
  const auto* error = std::get_if<api_error>(&read);
  if (error == nullptr) return "accepted";
  EXPECT_EQ(error->status, http_status::bad_request);
  EXPECT_FALSE(error->hint.empty());
  return error->code + ": " + error->message;
}

TEST(TransitionRequestReader, ReadsEveryField) {
  const auto request = accepted(R"({"to":"ledger","from":"shadow","expect_version":"731","reason":"week 49",
                                    "queue_budget":"200ms","deadline":"1m","request_id":"r-1"})");
  EXPECT_EQ(request.to, "ledger");
  EXPECT_EQ(request.from, "shadow");
  EXPECT_EQ(request.expect_version, "731");
  EXPECT_EQ(request.reason, "week 49");
  EXPECT_EQ(request.queue_budget, 200ms);
  EXPECT_EQ(request.deadline, 1min);
  EXPECT_EQ(request.request_id, "r-1");
}

TEST(TransitionRequestReader, TellsARehearsalAndADryRunFromTheRealThing) {
  EXPECT_FALSE(accepted(R"({"to":"ledger"})").rehearse);
  EXPECT_TRUE(accepted(R"({"to":"ledger","rehearse":true})").rehearse);
  EXPECT_FALSE(read_call(R"({"to":"ledger","dry_run":false})").dry_run);
  EXPECT_TRUE(read_call(R"({"to":"ledger","dry_run":true})").dry_run);
  EXPECT_EQ(refusal(R"({"to":"ledger","dry_run":"true"})"),
            "wrong_type: the field 'dry_run' must be true or false, not a string");
  EXPECT_EQ(refusal(R"({"to":"ledger","request_id":""})"), "out_of_range: the field 'request_id' is empty");
}

TEST(TransitionRequestReader, LeavesAbsentFieldsAbsent) {
  const auto request = accepted(R"({"to":"ledger"})");
  EXPECT_FALSE(request.from || request.expect_version || request.reason || request.queue_budget ||
               request.deadline);
}

TEST(TransitionRequestReader, NamesAnUnknownField) {
  EXPECT_EQ(refusal(R"({"to":"ledger","expected_version":"7"})"),
            "unknown_field: the field 'expected_version' is not known");
}

TEST(TransitionRequestReader, NamesAFieldOfTheWrongType) {
  EXPECT_EQ(refusal(R"({"to":["ledger"]})"), "wrong_type: the field 'to' must be a string, not an array");
  EXPECT_EQ(refusal(R"({"to":"ledger","expect_version":731})"),
            "wrong_type: the field 'expect_version' must be a string, not a number");
  EXPECT_EQ(refusal(R"({"to":"ledger","from":null})"),
            "wrong_type: the field 'from' must be a string, not null");
  EXPECT_EQ(refusal(R"({"to":"ledger","reason":true})"),
            "wrong_type: the field 'reason' must be a string, not a boolean");
  EXPECT_EQ(refusal(R"({"to":"ledger","deadline":{}})"),
            "wrong_type: the field 'deadline' must be a string, not an object");
}

TEST(TransitionRequestReader, NamesADurationOutOfRangeWithTheRange) {
  const std::string low = refusal(R"({"to":"ledger","queue_budget":"9ms"})");
  EXPECT_NE(low.find("out_of_range: the field 'queue_budget'"), std::string::npos) << low;
  EXPECT_NE(low.find("10ms"), std::string::npos) << low;
  const std::string high = refusal(R"({"to":"ledger","deadline":"11m"})");
  EXPECT_NE(high.find("'deadline'"), std::string::npos) << high;
  EXPECT_NE(high.find("10m"), std::string::npos) << high;
  for (const char* text : {"", "500", "5 s", "-5s", "1.5s", "5S", "99999999999999999999s"}) {
    const std::string body = std::string(R"({"to":"ledger","deadline":")") + text + "\"}";
    EXPECT_NE(refusal(body).find("out_of_range: the field 'deadline'"), std::string::npos) << text;
  }
}

TEST(TransitionRequestReader, AcceptsBothEndsOfARange) {
  EXPECT_EQ(accepted(R"({"to":"x","queue_budget":"10ms","deadline":"100ms"})").deadline, 100ms);
  EXPECT_EQ(accepted(R"({"to":"x","queue_budget":"60s","deadline":"10m"})").queue_budget, 60s);
}

TEST(TransitionRequestReader, RequiresATarget) {
  EXPECT_EQ(refusal("{}"), "missing_field: the field 'to' is missing");
  EXPECT_EQ(refusal(R"({"to":""})"), "missing_field: the field 'to' is empty");
}

TEST(TransitionRequestReader, RefusesControlCharactersAndLongTexts) {
  EXPECT_NE(refusal(R"({"to":"ledger","reason":"a\u0000b"})").find("one line of text"), std::string::npos);
  EXPECT_NE(refusal(R"({"to":"ledger","reason":"a\nb"})").find("one line of text"), std::string::npos);
  EXPECT_NE(refusal(R"({"to":"ledger","reason":")" + std::string(1001, 'x') + "\"}").find("longer than 1000"),
            std::string::npos);
  EXPECT_EQ(accepted(R"({"to":"ledger","reason":")" + std::string(1000, 'x') + "\"}").reason->size(), 1000u);
}

TEST(TransitionRequestReader, RefusesWhatIsNotJson) {
  EXPECT_NE(refusal("to=ledger").find("malformed_json: "), std::string::npos);
  EXPECT_EQ(refusal(R"({"to":"ledger","to":"shadow"})"), "malformed_json: the field 'to' is given twice");
}

} // namespace
} // namespace ledgergate::admin
