#include "protocol/error_response.hpp"

#include <gtest/gtest.h>

#include "protocol/backend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::protocol {
namespace {

TEST(ErrorResponse, CarriesSeverityTwiceCodeMessageAndHint) {
  const std::string message =
      make_error_response("FATAL", "53300", "too many clients", "raise limits.max_clients");
  EXPECT_EQ(message[0], 'E');
  EXPECT_EQ(load_int32(message.data() + 1), message.size() - 1);
  const std::string_view body = std::string_view(message).substr(header_bytes);
  EXPECT_EQ(error_field(body, 'S'), "FATAL");
  EXPECT_EQ(error_field(body, 'V'), "FATAL");
  EXPECT_EQ(error_field(body, 'C'), "53300");
  EXPECT_EQ(error_field(body, 'M'), "too many clients");
  EXPECT_EQ(error_field(body, 'H'), "raise limits.max_clients");
  EXPECT_EQ(message.back(), '\0');
}

TEST(ErrorResponse, LeavesAnEmptyHintOut) {
  const std::string message = make_error_response("ERROR", "0A000", "no");
  EXPECT_EQ(error_field(std::string_view(message).substr(header_bytes), 'H'), "");
}

TEST(ReadyForQuery, IsSixBytes) { EXPECT_EQ(make_ready_for_query('T'), std::string("Z\0\0\0\5T", 6)); }

} // namespace
} // namespace ledgergate::protocol
