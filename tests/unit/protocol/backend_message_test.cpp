#include "protocol/backend_message.hpp"

#include <gtest/gtest.h>

namespace ledgergate::protocol {
namespace {

using namespace std::string_view_literals;

TEST(BackendMessage, ReadyForQueryKnowsThreeLetters) {
  EXPECT_EQ(decode_ready_for_query("I"), 'I');
  EXPECT_EQ(decode_ready_for_query("T"), 'T');
  EXPECT_EQ(decode_ready_for_query("E"), 'E');
  EXPECT_FALSE(decode_ready_for_query("X"));
  EXPECT_FALSE(decode_ready_for_query(""));
  EXPECT_FALSE(decode_ready_for_query("II"));
}

TEST(BackendMessage, ErrorFieldIsFoundByItsType) {
  constexpr auto body = "SERROR\0VERROR\0C55P03\0Mcanceling\0\0"sv;
  EXPECT_EQ(error_field(body, 'C'), "55P03");
  EXPECT_EQ(error_field(body, 'V'), "ERROR");
  EXPECT_EQ(error_field(body, 'H'), "");
}

TEST(BackendMessage, ErrorFieldOfABodyThatIsNotYetWholeIsFoundInFront) {
  EXPECT_EQ(error_field("SERROR\0C55P03\0Mcance"sv, 'C'), "55P03");
  EXPECT_EQ(error_field("SERROR\0C55P03\0Mcance"sv, 'M'), "");
}

TEST(BackendMessage, ParameterStatusIsTwoStrings) {
  const auto status = decode_parameter_status("client_encoding\0UTF8\0"sv);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->name, "client_encoding");
  EXPECT_EQ(status->value, "UTF8");
  EXPECT_FALSE(decode_parameter_status("client_encoding\0UTF8"sv));
}

TEST(BackendMessage, AuthenticationOkAndFinalAskNothing) {
  EXPECT_EQ(authentication_asks("\0\0\0\0"sv), false);
  EXPECT_EQ(authentication_asks("\0\0\0\x0c"
                                "v=abc"sv),
            false);
  EXPECT_EQ(authentication_asks("\0\0\0\3"sv), true);
  EXPECT_EQ(authentication_asks("\0\0\0\x0b"
                                "data"sv),
            true);
  EXPECT_FALSE(authentication_asks("\0\0"sv));
}

} // namespace
} // namespace ledgergate::protocol
