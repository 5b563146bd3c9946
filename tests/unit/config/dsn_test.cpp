#include "config/dsn.hpp"

#include <gtest/gtest.h>

namespace ledgergate::config {
namespace {

TEST(Dsn, NamesItsDatabaseInBothForms) {
  EXPECT_EQ(parse_dsn("host=h dbname=horde user=u")->database, "horde");
  EXPECT_EQ(parse_dsn("dbname = 'my horde'")->database, "my horde");
  EXPECT_EQ(parse_dsn("postgresql://u@h:5433/horde?connect_timeout=3")->database, "horde");
  EXPECT_EQ(parse_dsn("postgres://h1,h2/horde")->database, "horde");
  EXPECT_EQ(parse_dsn("host=h")->database, "");
}

TEST(Dsn, WithoutASecretIsShownAsWritten) {
  for (const char* text : {"host=h  dbname=horde", "postgresql://u@h/horde", "host=h passfile=/etc/pgpass"}) {
    EXPECT_EQ(parse_dsn(text)->redacted, text);
  }
}

TEST(Dsn, NeverShowsAPassword) {
  struct secret_case {
    const char* text;
    const char* shown;
  };
  for (const auto& [text, shown] : {
           secret_case{"host=h password=s3cret dbname=horde", "password=*** dbname=horde host=h"},
           secret_case{"password='s3cret \\' more' dbname=horde", "password=*** dbname=horde"},
           secret_case{"dbname=horde password = s3cret", "password=*** dbname=horde"},
           secret_case{"postgresql://u:s3cret@h:5433/horde",
                       "user=u password=*** dbname=horde host=h port=5433"},
           secret_case{"postgresql://u@h/horde?password=s3cret", "user=u password=*** dbname=horde host=h"},
           secret_case{"postgresql://u:s3%63ret@h/horde", "user=u password=*** dbname=horde host=h"},
           secret_case{"dbname=horde sslpassword=s3cret", "dbname=horde sslpassword=***"},
           secret_case{"password=s3cret options='-c a=b\\ c'", "password=*** options='-c a=b c'"},
       }) {
    SCOPED_TRACE(text);
    const auto facts = parse_dsn(text);
    ASSERT_TRUE(facts.has_value()) << facts.error().message;
    EXPECT_EQ(facts->redacted, shown);
  }
}

TEST(Dsn, RedactedFormIsADsnItself) {
  const auto facts = parse_dsn("password=s3cret options='-c x=it\\'s' dbname=''");
  ASSERT_TRUE(facts.has_value());
  ASSERT_TRUE(parse_dsn(facts->redacted).has_value());
  EXPECT_EQ(parse_dsn(facts->redacted)->redacted, facts->redacted);
}

TEST(Dsn, ErrorIsLibpqsOwn) {
  EXPECT_EQ(parse_dsn("host=h dbnam=x").error().message, "invalid connection option \"dbnam\"");
  EXPECT_EQ(parse_dsn("host='h").error().message, "unterminated quoted string in connection info string");
}

TEST(Dsn, PortsAreCheckedBeforeLibpqConnects) {
  for (const char* text : {"port=5432", "port=1", "port=65535", "host=a,b port=5432,5433",
                           "host=a,b port=5432,", "port=''", "postgresql://h:5432/db"}) {
    EXPECT_TRUE(parse_dsn(text).has_value()) << text;
  }
  for (const char* text : {"port=none", "port=0", "port=65536", "port=-1", "port=5432x",
                           "host=a,b port=5432,x", "postgresql://h:70000/db"}) {
    SCOPED_TRACE(text);
    ASSERT_FALSE(parse_dsn(text).has_value());
    EXPECT_EQ(parse_dsn(text).error().message, "port must be from 1 to 65535");
  }
}

TEST(Dsn, ErrorNeverHoldsAPieceOfAPassword) {
  for (const char* text :
       {"host=h password=my s3cret", "host=h password=my s3cret=x", "postgresql://u:a%zzs3cret@h/db",
        "postgresql://u:s3cret@[::1/db", "postgresql://u:s3\"cret\"s3cret@[::1/db"}) {
    SCOPED_TRACE(text);
    const auto facts = parse_dsn(text);
    ASSERT_FALSE(facts.has_value());
    EXPECT_NE(facts.error().message, "");
    EXPECT_EQ(facts.error().message.find("s3cret"), std::string::npos) << facts.error().message;
    EXPECT_EQ(facts.error().message.find("cret"), std::string::npos) << facts.error().message;
  }
}

} // namespace
} // namespace ledgergate::config
