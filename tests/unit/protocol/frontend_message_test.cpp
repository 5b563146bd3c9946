#include "protocol/frontend_message.hpp"

#include <gtest/gtest.h>

#include "protocol/tags.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::protocol {
namespace {

using namespace std::string_view_literals;

std::string body_of(const std::string& message) { return message.substr(header_bytes); }

TEST(FrontendMessage, LengthCountsItselfAndNotTheTypeByte) {
  std::string out;
  append_parse(out, "s", "SELECT 1");
  EXPECT_EQ(load_int32(out.data() + 1), out.size() - 1);
  append_sync(out);
  EXPECT_EQ(out.substr(out.size() - 5), "S\0\0\0\4"sv);
}

TEST(FrontendMessage, WhatIsBuiltDecodesToTheSame) {
  std::string parse, bind, execute, close, query;
  append_parse(parse, "s", "SELECT 1");
  append_bind(bind, "p", "s");
  append_execute(execute, "p");
  append_close(close, 'P', "p");
  append_query(query, "SELECT 2");
  EXPECT_EQ(decode_parse(body_of(parse))->statement, "s");
  EXPECT_EQ(decode_parse(body_of(parse))->query, "SELECT 1");
  EXPECT_EQ(decode_bind(body_of(bind))->portal, "p");
  EXPECT_EQ(decode_bind(body_of(bind))->statement, "s");
  EXPECT_EQ(decode_execute(body_of(execute)), "p");
  EXPECT_EQ(decode_target(body_of(close))->target, 'P');
  EXPECT_EQ(decode_target(body_of(close))->name, "p");
  EXPECT_EQ(decode_query(body_of(query)), "SELECT 2");
}

TEST(FrontendMessage, OneByteShortOrLongIsNotDecoded) {
  std::string parse, execute, close, query;
  append_parse(parse, "s", "SELECT 1");
  append_execute(execute, "p");
  append_close(close, 'S', "s");
  append_query(query, "SELECT 2");
  const auto shorter = [](const std::string& message) {
    return body_of(message).substr(0, message.size() - header_bytes - 1);
  };
  EXPECT_FALSE(decode_parse(shorter(parse)));
  EXPECT_FALSE(decode_execute(shorter(execute)));
  EXPECT_FALSE(decode_target(shorter(close)));
  EXPECT_FALSE(decode_query(shorter(query)));
  EXPECT_FALSE(decode_parse(body_of(parse) + 'x'));
  EXPECT_FALSE(decode_execute(body_of(execute) + 'x'));
  EXPECT_FALSE(decode_target(body_of(close) + 'x'));
  EXPECT_FALSE(decode_query(body_of(query) + 'x'));
}

TEST(FrontendMessage, ParseTellsTheTypesOfItsParameters) {
  const auto parse = decode_parse("s\0SELECT $1\0\0\2\0\0\0\x17\0\0\x40\1"sv);
  ASSERT_TRUE(parse);
  EXPECT_EQ(parse->types, "\0\0\0\x17\0\0\x40\1"sv);
}

TEST(FrontendMessage, BindNeedsOnlyItsNames) {
  EXPECT_TRUE(decode_bind("p\0s\0"sv));
  EXPECT_FALSE(decode_bind("p\0s"sv));
}

TEST(FrontendMessage, TargetIsAStatementOrAPortal) { EXPECT_FALSE(decode_target("Xname\0"sv)); }

TEST(FrontendMessage, FunctionCallHasOneBinaryInt8Argument) {
  const std::string call = make_function_call(3090, 0x4B55444D);
  EXPECT_EQ(call, "F\0\0\0\x1c\0\0\x0c\x12\0\1\0\1\0\1\0\0\0\x8\0\0\0\0KUDM\0\1"sv);
}

TEST(MaxFrontendLength, IsZeroForTypesThatDoNotExist) {
  for (int tag = 0; tag < 256; ++tag) {
    const bool exists = "BCdcfDEHFPQSX"sv.find(static_cast<char>(tag)) != std::string_view::npos;
    EXPECT_EQ(max_frontend_length(static_cast<char>(tag)) != 0, exists) << tag;
  }
}

} // namespace
} // namespace ledgergate::protocol
