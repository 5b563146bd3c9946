#include "proxy/admin/authorization.hpp"

#include <gtest/gtest.h>

#include <boost/beast/http/message.hpp>
#include <filesystem>
#include <string>

#include "proxy/admin/replies.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ledgergate::admin {
namespace {

namespace http = boost::beast::http;

http_request with_authorization(const std::string& value) {
  http_request request;
  request.set(http::field::authorization, value);
  return request;
}

http_request from_page(const std::string& origin, const std::string& host) {
  http_request request;
  request.set(http::field::origin, origin);
  request.set(http::field::host, host);
  return request;
}

TEST(TokenFile, AcceptsTheTokenWithoutItsLineEnd) {
  const temporary_folder folder;
  token_file tokens(folder.write("token", "  s3cret\r\n"));
  EXPECT_EQ(tokens.problem(), "");
  EXPECT_EQ(tokens.check(with_authorization("Bearer s3cret")), token_check::accepted);
  EXPECT_EQ(tokens.check(with_authorization("bearer  s3cret ")), token_check::accepted);
}

TEST(TokenFile, RefusesEverybodyWhenNoneIsConfigured) {
  token_file tokens(std::nullopt);
  EXPECT_EQ(tokens.check(with_authorization("Bearer ")), token_check::not_configured);
  EXPECT_EQ(tokens.check(http_request()), token_check::not_configured);
  EXPECT_EQ(tokens.problem(), "");
}

TEST(TokenFile, RefusesMissingWrongAndMalformedTokens) {
  const temporary_folder folder;
  token_file tokens(folder.write("token", "s3cret"));
  EXPECT_EQ(tokens.check(http_request()), token_check::missing);
  for (const char* shown : {"Bearer s3cre", "Bearer s3crets", "Bearer S3CRET", "Bearer s3cret s3cret"}) {
    EXPECT_EQ(tokens.check(with_authorization(shown)), token_check::wrong) << shown;
  }
  for (const char* shown : {"", "Bearer", "Bearer ", "s3cret", "Basic s3cret", "Bearers3cret"}) {
    EXPECT_EQ(tokens.check(with_authorization(shown)), token_check::malformed) << shown;
  }
  http_request twice = with_authorization("Bearer s3cret");
  twice.insert(http::field::authorization, "Bearer s3cret");
  EXPECT_EQ(tokens.check(twice), token_check::malformed);
}

TEST(TokenFile, ReadsARotatedTokenAtOnce) {
  const temporary_folder folder;
  token_file tokens(folder.write("token", "first"));
  ASSERT_EQ(tokens.check(with_authorization("Bearer first")), token_check::accepted);
  folder.write("token", "other");
  EXPECT_EQ(tokens.check(with_authorization("Bearer first")), token_check::wrong);
  EXPECT_EQ(tokens.check(with_authorization("Bearer other")), token_check::accepted);
}

TEST(TokenFile, KeepsNoTokenOfAFileThatIsGoneAndRecovers) {
  const temporary_folder folder;
  token_file tokens(folder.write("token", "s3cret"));
  std::filesystem::remove(folder.file("token"));
  EXPECT_EQ(tokens.check(with_authorization("Bearer s3cret")), token_check::unreadable);
  EXPECT_NE(tokens.problem().find("No such file"), std::string::npos);
  folder.write("token", "s3cret");
  EXPECT_EQ(tokens.check(with_authorization("Bearer s3cret")), token_check::accepted);
  EXPECT_EQ(tokens.problem(), "");
}

TEST(TokenFile, NamesWhatIsWrongWithTheFile) {
  const temporary_folder folder;
  EXPECT_NE(token_file(folder.write("empty", " \n")).problem().find("is empty"), std::string::npos);
  EXPECT_NE(token_file(folder.write("big", std::string(4097, 'x'))).problem().find("larger than"),
            std::string::npos);
  EXPECT_NE(token_file(folder.file(".")).problem().find("is not a file"), std::string::npos);
  token_file empty(folder.file("empty"));
  EXPECT_EQ(empty.check(with_authorization("Bearer ")), token_check::unreadable);
}

TEST(CrossOrigin, LetsRequestsWithoutAPageThrough) {
  http_request request;
  request.set(http::field::host, "127.0.0.1:6433");
  EXPECT_FALSE(is_cross_origin(request));
}

TEST(CrossOrigin, LetsTheOwnPageThrough) {
  EXPECT_FALSE(is_cross_origin(from_page("http://127.0.0.1:6433", "127.0.0.1:6433")));
  EXPECT_FALSE(is_cross_origin(from_page("http://LocalHost:6433", "localhost:6433")));
  EXPECT_FALSE(is_cross_origin(from_page("http://[::1]:6433", "[::1]:6433")));
  EXPECT_FALSE(is_cross_origin(from_page("https://gate.example", "gate.example")));
  EXPECT_FALSE(is_cross_origin(from_page("http://gate.example", "gate.example:80")));
}

TEST(CrossOrigin, RefusesEveryOtherPage) {
  for (const char* origin : {"http://evil.example", "http://127.0.0.1:6434", "http://127.0.0.1", "null", "",
                             "http://", "127.0.0.1:6433", "file://", "ftp://127.0.0.1:6433",
                             "http://127.0.0.1:6433/x", "http://evil@127.0.0.1:6433"}) {
    EXPECT_TRUE(is_cross_origin(from_page(origin, "127.0.0.1:6433"))) << origin;
  }
}

TEST(CrossOrigin, BelievesTheBrowserThatSaysCrossSite) {
  http_request request = from_page("http://127.0.0.1:6433", "127.0.0.1:6433");
  request.set("Sec-Fetch-Site", "same-origin");
  EXPECT_FALSE(is_cross_origin(request));
  for (const char* site : {"cross-site", "same-site", "whatever"}) {
    request.set("Sec-Fetch-Site", site);
    EXPECT_TRUE(is_cross_origin(request)) << site;
  }
}

} // namespace
} // namespace ledgergate::admin
