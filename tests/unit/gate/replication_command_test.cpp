#include "proxy/gate/replication_command.hpp"

#include <gtest/gtest.h>

namespace ledgergate::gate {
namespace {

TEST(ReplicationCommand, IsKnownByItsFirstWord) {
  EXPECT_TRUE(is_replication_command("IDENTIFY_SYSTEM"));
  EXPECT_TRUE(is_replication_command("  start_replication SLOT kudos_ledger LOGICAL 0/0"));
  EXPECT_TRUE(is_replication_command("BASE_BACKUP (LABEL 'x')"));
}

TEST(ReplicationCommand, IsNotSqlThatBeginsAlike) {
  EXPECT_FALSE(is_replication_command("SELECT 1"));
  EXPECT_FALSE(is_replication_command("START TRANSACTION"));
  EXPECT_FALSE(is_replication_command("IDENTIFY_SYSTEMS"));
  EXPECT_FALSE(is_replication_command("/* BASE_BACKUP */ INSERT INTO led VALUES (1)"));
  EXPECT_FALSE(is_replication_command(""));
  EXPECT_FALSE(is_replication_command("   "));
}

} // namespace
} // namespace ledgergate::gate
