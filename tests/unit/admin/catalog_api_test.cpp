#include "proxy/admin/catalog_api.hpp"

#include <gtest/gtest.h>

#include "tests/unit/admin/api_fixture.hpp"

namespace ledgergate::admin {
namespace {

class fake_catalog final : public catalog_backend {
 public:
  catalog_state state;
  gate::explanation found;
  mutable std::string asked;

  catalog_state catalog() const override { return state; }
  gate::explanation explain(const std::string& sql) const override {
    asked = sql;
    return found;
  }
};

class CatalogApi : public api_fixture {
 protected:
  fake_catalog catalog_;
  router routes_{backend_, token_file(std::nullopt), catalog_routes(catalog_)};

  http_response explain(const std::string& body) {
    http_request request = request_for("POST", "/v1/explain");
    request.set(http::field::content_type, "application/json");
    request.body() = body;
    return send_to(routes_, request);
  }
  void set_report() {
    auto report = std::make_shared<catalog::catalog_report>();
    report->gated.push_back({"view",
                             "app",
                             "list",
                             17000,
                             {{{"read"},
                               sql::touch_kind::touch,
                               {},
                               {"view over app.ledger", "configured, pin_on: any"},
                               false}}});
    report->gated.push_back({"table",
                             "app",
                             "ledger",
                             0,
                             {{{"update"}, sql::touch_kind::transition, {"mode"}, {"configured"}, true}}});
    report->unseen.push_back({"function", "app", "built", "runs SQL that is put together at run time"});
    catalog_.state = {true, 3, std::chrono::milliseconds(1500), "", report};
  }
};

TEST_F(CatalogApi, ShowsEveryNameWithItsReasons) {
  set_report();
  const json::value body = body_of(send_to(routes_, request_for("GET", "/v1/catalog")));
  EXPECT_EQ(text_at(body, "/generation"), "3");
  EXPECT_EQ(text_at(body, "/age_ms"), "1500");
  EXPECT_EQ(text_at(body, "/names"), "2");
  EXPECT_EQ(text_at(body, "/gated/0/name"), "list");
  EXPECT_EQ(text_at(body, "/gated/0/oid"), "17000");
  EXPECT_EQ(text_at(body, "/gated/0/ways/0/why/1"), "configured, pin_on: any");
  EXPECT_EQ(text_at(body, "/gated/1/oid"), "null");
  EXPECT_EQ(text_at(body, "/gated/1/ways/0/verdict"), "transition");
  EXPECT_EQ(text_at(body, "/gated/1/ways/0/columns/0"), "mode");
  EXPECT_EQ(text_at(body, "/unseen/0/name"), "built");
}

TEST_F(CatalogApi, SaysThatItWasNeverRead) {
  catalog_.state.enabled = true;
  catalog_.state.last_error = "no route";
  const json::value body = body_of(send_to(routes_, request_for("GET", "/v1/catalog")));
  EXPECT_EQ(text_at(body, "/age_ms"), "null");
  EXPECT_EQ(text_at(body, "/error"), "no route");
  EXPECT_EQ(text_at(body, "/gated"), "[]");
}

TEST_F(CatalogApi, ExplainShowsThePathOfTheAccessThatIsMade) {
  set_report();
  catalog_.found.whole.verdict.touch = sql::touch_kind::touch;
  catalog_.found.statements.push_back(
      {{0, 8, sql::touch_kind::touch, sql::touch_reason::catalog, "list", "", "read"},
       "select x",
       {"as_extended", "inline", "inline", {}}});
  const json::value body = body_of(explain(R"({"sql": "select x"})"));
  EXPECT_EQ(catalog_.asked, "select x");
  EXPECT_EQ(text_at(body, "/statements/0/paths/0/name"), "app.list");
  EXPECT_EQ(text_at(body, "/statements/0/pin/autocommit"), "as_extended");
  EXPECT_EQ(text_at(body, "/catalog_generation"), "3");
}

TEST_F(CatalogApi, ExplainLeavesOutThePathsOfOtherSchemas) {
  set_report();
  catalog_.found.statements.push_back(
      {{0, 8, sql::touch_kind::touch, sql::touch_reason::catalog, "list", "", "read"}, "select x", {}});
  EXPECT_EQ(text_at(body_of(explain(R"({"sql": "x", "schema": "other"})")), "/statements/0/paths"), "[]");
}

TEST_F(CatalogApi, ExplainRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(error_code_of(explain("[]")), "malformed_json");
  EXPECT_EQ(error_code_of(explain("{}")), "missing_field");
  EXPECT_EQ(error_code_of(explain(R"({"sql": null})")), "wrong_type");
  EXPECT_EQ(error_code_of(explain(R"({"sql": "", "how": ""})")), "unknown_field");
}

} // namespace
} // namespace ledgergate::admin
