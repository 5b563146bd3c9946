#include "proxy/gate/pin_messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/wire.hpp"

namespace ledgergate::gate {
namespace {

std::string tags(const std::string& messages) {
  std::string out;
  for (std::size_t at = 0; at < messages.size(); at += 1 + protocol::load_int32(messages.data() + at + 1))
    out += messages[at];
  return out;
}

TEST(PinMessages, BatchPinIsSixMessagesThatLeaveNothingBehind) {
  const pin_messages messages = make_pin_messages(1263879245, std::nullopt);
  EXPECT_EQ(tags(messages.shared.batch), "CPBECC");
  EXPECT_EQ(tags(messages.as_extended_suffix), "BDECS");
}

TEST(PinMessages, EveryNameIsSchemaQualified) {
  const pin_messages messages = make_pin_messages(-5, 7);
  for (const std::string& text : {messages.shared.batch_with_session, messages.exclusive.batch_with_session,
                                  messages.shared.session_query, messages.exclusive.session_release_query}) {
    for (std::size_t at = text.find("pg_advisory"); at != std::string::npos;
         at = text.find("pg_advisory", at + 1))
      EXPECT_EQ(text.substr(at - 11, 11), "pg_catalog.") << text;
    for (std::size_t at = text.find("::"); at != std::string::npos; at = text.find("::", at + 1))
      EXPECT_EQ(text.substr(at + 2, 11), "pg_catalog.") << text;
  }
  EXPECT_NE(messages.shared.batch.find("'-5'::pg_catalog.int8"), std::string::npos);
}

TEST(PinMessages, ExclusiveTakesTheApplierKeyFirstAndGivesItBackLast) {
  const pin_messages messages = make_pin_messages(11, 22);
  EXPECT_EQ(messages.exclusive.transaction_call_count, 2U);
  const std::string& take = messages.exclusive.session_query;
  EXPECT_LT(take.find("'22'"), take.find("'11'"));
  const std::string& release = messages.exclusive.session_release_query;
  EXPECT_LT(release.find("'11'"), release.find("'22'"));
}

TEST(PinMessages, WithoutAnApplierKeyOnlyTheGateIsTaken) {
  const pin_messages messages = make_pin_messages(11, std::nullopt);
  EXPECT_EQ(messages.exclusive.transaction_call_count, 1U);
  EXPECT_EQ(messages.exclusive.session_release_call_count, 1U);
}

} // namespace
} // namespace ledgergate::gate
