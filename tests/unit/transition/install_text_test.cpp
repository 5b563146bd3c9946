// The SQL of `gatectl install`.
#include "proxy/transition/install_text.hpp"

#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

std::shared_ptr<config::settings> gated() {
  auto settings = script_settings();
  settings->gate.database = "horde";
  settings->gate.tables = {{"", "kudos_ledger", config::pin_on::any, {}},
                           {"public", "We\"ird", config::pin_on::write, {"kudos", "Other"}}};
  return settings;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(InstallText, IsOneTransactionAndNamesWhatItGrants) {
  const auto text = install_text(*gated(), guard_kind::refuse, "gate \"op\"");
  EXPECT_TRUE(contains(text, "\nBEGIN;\n"));
  EXPECT_TRUE(text.ends_with("COMMIT;\n"));
  EXPECT_TRUE(contains(text, "GRANT USAGE ON SCHEMA ledgergate TO \"gate \"\"op\"\"\";"));
  EXPECT_FALSE(contains(text, "DELETE ON")) << "history is not the sidecar's to delete";
}

TEST(InstallText, GuardsEachTableByItsRule) {
  const auto text = install_text(*gated(), guard_kind::refuse, "op");
  EXPECT_TRUE(contains(text, "BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON \"kudos_ledger\""));
  EXPECT_TRUE(contains(text, "BEFORE UPDATE OF \"kudos\", \"Other\" ON \"public\".\"We\"\"ird\""));
  EXPECT_TRUE(contains(text, "ERRCODE = 'LG001'"));
  EXPECT_TRUE(contains(text, "l.objid OPERATOR(pg_catalog.=) 1263879245"));
}

TEST(InstallText, TakesThePinItselfOrLeavesGuardsOutWhenToldSo) {
  const auto pinning = install_text(*gated(), guard_kind::pin, "op");
  EXPECT_TRUE(contains(pinning, "PERFORM pg_catalog.pg_advisory_xact_lock_shared(1263879245::bigint)"));
  EXPECT_FALSE(contains(pinning, "LG001"));
  const auto none = install_text(*gated(), guard_kind::none, "op");
  EXPECT_TRUE(contains(none, "DROP FUNCTION IF EXISTS ledgergate.guard() CASCADE"));
  EXPECT_FALSE(contains(none, "CREATE OR REPLACE TRIGGER"));
}

} // namespace
} // namespace ledgergate::transition
