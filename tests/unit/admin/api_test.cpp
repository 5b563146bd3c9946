#include "proxy/admin/api.hpp"

#include "tests/unit/admin/api_fixture.hpp"

namespace ledgergate::admin {
namespace {

using kind = enum start_answer::kind;

class AdminApi : public api_fixture {};

TEST_F(AdminApi, AnswersProbesWithTheirReasons) {
  EXPECT_EQ(get("/livez").result(), http_status::ok);
  backend_.ready_report.reasons = {"the control connection is down", "no upstream answers"};
  EXPECT_EQ(get("/livez").result(), http_status::ok);
  EXPECT_EQ(get("/startupz").result(), http_status::ok);
  const http_response response = get("/readyz");
  EXPECT_EQ(response.result(), http_status::service_unavailable);
  const json::value body = body_of(response);
  EXPECT_EQ(text_at(body, "/error/message"), "the control connection is down; no upstream answers");
  EXPECT_EQ(text_at(body, "/error/reasons/1"), "no upstream answers");
}

TEST_F(AdminApi, ServesMetricsAsPrometheusText) {
  const http_response response = get("/metrics");
  EXPECT_EQ(response[http::field::content_type], "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(response.body(), "ledgergate_clients 3\n");
}

TEST_F(AdminApi, ServesTheConfigurationAsJsonOrAsText) {
  EXPECT_EQ(text_at(body_of(get("/v1/config")), "/config"), "modes: [shadow, ledger]\n");
  http_request request = request_for("GET", "/v1/config");
  request.set(http::field::accept, "text/plain");
  EXPECT_EQ(send(request).body(), "modes: [shadow, ledger]\n");
}

TEST_F(AdminApi, MarksEveryAnswerAsNotToBeCached) {
  for (const char* target : {"/livez", "/metrics", "/v1/status", "/nothing"}) {
    EXPECT_EQ(get(target)[http::field::cache_control], "no-store") << target;
    EXPECT_EQ(get(target)["X-Content-Type-Options"], "nosniff") << target;
  }
}

TEST_F(AdminApi, ShowsTheRunningAndTheLastEndedTransitionInTheStatus) {
  auto running = planned_record(backend_.time);
  running.state = transition::transition_state::queued;
  auto unknown = planned_record(backend_.time);
  unknown.id = "unknown-one";
  unknown.state = transition::transition_state::unknown;
  auto ended = planned_record(backend_.time);
  ended.id = "ended-one";
  ended.state = transition::transition_state::committed;
  auto older = ended;
  older.id = "older-one";
  backend_.running = running;
  backend_.history = {running, unknown, ended, older};
  const json::value body = body_of(get("/v1/status"));
  EXPECT_EQ(text_at(body, "/transition/state"), "queued");
  EXPECT_EQ(text_at(body, "/last_transition/id"), "ended-one");
}

TEST_F(AdminApi, ListsPinsOrSaysWhyItCannot) {
  backend_.pins_now.error = "the control connection is down";
  http_response response = get("/v1/pins");
  EXPECT_EQ(response.result(), http_status::service_unavailable);
  EXPECT_EQ(error_code_of(response), "database_unavailable");
  backend_.pins_now.snapshot.emplace();
  response = get("/v1/pins");
  EXPECT_EQ(response.result(), http_status::ok);
  EXPECT_EQ(text_at(body_of(response), "/holders"), "[]");
}

TEST_F(AdminApi, StartsATransitionWithTheRequestAsItWasGiven) {
  backend_.start_result = {kind::accepted, planned_record(backend_.time), {}, {}, {}};
  const http_response response = send(
      post(R"({"to":"ledger","from":"shadow","expect_version":"731","queue_budget":"200ms","reason":"r"})"));
  EXPECT_EQ(response.result(), http_status::accepted);
  EXPECT_EQ(response[http::field::location], "/v1/transitions/6f1c7f3e-1111-4222-8333-444455556666");
  const json::value body = body_of(response);
  EXPECT_EQ(text_at(body, "/id"), "6f1c7f3e-1111-4222-8333-444455556666");
  EXPECT_EQ(text_at(body, "/state"), "planned");
  ASSERT_EQ(backend_.started_by.size(), 1u);
  EXPECT_EQ(backend_.started_by[0].requested_by, "127.0.0.1:5");
  EXPECT_EQ(backend_.started_by[0].from, "shadow");
  EXPECT_EQ(backend_.started_by[0].expect_version, "731");
  EXPECT_EQ(backend_.started_by[0].queue_budget, std::chrono::milliseconds(200));
}

TEST_F(AdminApi, SaysChangedFalseWhenTheModeIsThereAlready) {
  auto record = planned_record(backend_.time);
  record.state = transition::transition_state::committed;
  record.finished_at = backend_.time;
  backend_.start_result = {kind::already_there, record, {}, "already ledger", {}};
  const http_response response = send(post(R"({"to":"ledger"})"));
  EXPECT_EQ(response.result(), http_status::ok);
  EXPECT_EQ(text_at(body_of(response), "/changed"), "false");
}

TEST_F(AdminApi, NamesTheRunningTransitionInAConflict) {
  backend_.start_result = {kind::conflict, {}, "abc-1", "", {}};
  http_response response = send(post(R"({"to":"ledger"})"));
  EXPECT_EQ(response.result(), http_status::conflict);
  EXPECT_EQ(response[http::field::location], "/v1/transitions/abc-1");
  EXPECT_EQ(error_code_of(response), "transition_running");
  EXPECT_EQ(text_at(body_of(response), "/error/id"), "abc-1");
  backend_.start_result.conflict_id.clear();
  response = send(post(R"({"to":"ledger"})"));
  EXPECT_EQ(text_at(body_of(response), "/error/id"), "null");
  EXPECT_EQ(response.count(http::field::location), 0u);
}

TEST_F(AdminApi, ShowsTheControlRowWhenAPreconditionFails) {
  backend_.status_now.mode = "ledger";
  backend_.status_now.mode_version = "732";
  backend_.start_result = {kind::precondition_failed, {}, {}, "the mode is ledger, not shadow", {}};
  const http_response response = send(post(R"({"to":"ledger","from":"shadow"})"));
  EXPECT_EQ(response.result(), http_status::precondition_failed);
  EXPECT_EQ(error_code_of(response), "precondition_failed");
  EXPECT_EQ(text_at(body_of(response), "/error/mode"), "ledger");
  EXPECT_EQ(text_at(body_of(response), "/error/version"), "732");
}

TEST_F(AdminApi, RefusesAnUnknownMode) {
  backend_.start_result = {kind::unknown_mode, {}, {}, "'legder' is not one of shadow, ledger", {}};
  const http_response response = send(post(R"({"to":"legder"})"));
  EXPECT_EQ(response.result(), http_status::bad_request);
  EXPECT_EQ(error_code_of(response), "unknown_mode");
}

TEST_F(AdminApi, PassesTheServersWordsOnWhenTheDatabaseRefuses) {
  backend_.start_result = {kind::unavailable,
                           {},
                           {},
                           "the control row cannot be read",
                           transition::server_error{"42501", "permission denied for table c", {}, {}}};
  const http_response response = send(post(R"({"to":"ledger"})"));
  EXPECT_EQ(response.result(), http_status::service_unavailable);
  EXPECT_EQ(text_at(body_of(response), "/error/server_error/sqlstate"), "42501");
}

TEST_F(AdminApi, DoesNotAskTheBackendForARequestItCannotRead) {
  const http_response response = send(post(R"({"to":"ledger","expect_versoin":"1"})"));
  EXPECT_EQ(response.result(), http_status::bad_request);
  EXPECT_EQ(error_code_of(response), "unknown_field");
  EXPECT_EQ(text_at(body_of(response), "/error/field"), "expect_versoin");
  EXPECT_TRUE(backend_.started_by.empty());
  ASSERT_EQ(backend_.refusals.size(), 1u);
  EXPECT_EQ(backend_.refusals[0].code, "unknown_field");
}

TEST_F(AdminApi, ShowsThePlanOfADryRunAndStartsNothing) {
  backend_.plan_now.record = planned_record(backend_.time);
  backend_.plan_now.plan.emplace();
  backend_.plan_now.plan->checks = {{"mode", transition::plan_check::verdict::good, "fits"},
                                    {"standby", transition::plan_check::verdict::bad, "missing"}};
  backend_.plan_now.plan->longest_pause = std::chrono::milliseconds(5500);
  const http_response response = send(post(R"({"to":"ledger","dry_run":true})"));
  EXPECT_EQ(response.result(), http_status::ok);
  const json::value body = body_of(response);
  EXPECT_EQ(text_at(body, "/state"), "planned");
  EXPECT_EQ(text_at(body, "/id"), "null");
  EXPECT_EQ(text_at(body, "/plan/possible"), "false");
  EXPECT_EQ(text_at(body, "/plan/checks/1/verdict"), "bad");
  EXPECT_EQ(text_at(body, "/plan/predicted_pause/hold_ms"), "null");
  EXPECT_EQ(text_at(body, "/plan/predicted_pause/at_most_ms"), "5500");
  EXPECT_TRUE(backend_.started_by.empty());
  ASSERT_EQ(backend_.planned.size(), 1u);
  EXPECT_EQ(backend_.planned[0].to, "ledger");
}

TEST_F(AdminApi, ADryRunIsRefusedLikeTheRealThing) {
  backend_.plan_now.unknown_mode = true;
  backend_.plan_now.error = "no such mode";
  EXPECT_EQ(error_code_of(send(post(R"({"to":"x","dry_run":true})"))), "unknown_mode");
  backend_.plan_now.unknown_mode = false;
  EXPECT_EQ(error_code_of(send(post(R"({"to":"x","dry_run":true})"))), "database_unavailable");
}

TEST_F(AdminApi, AnswersARepeatedRequestWithWhatBecameOfTheFirst) {
  auto record = planned_record(backend_.time);
  backend_.start_result = {kind::repeated, record, record.id, {}, {}};
  EXPECT_EQ(send(post(R"({"to":"ledger","request_id":"a"})")).result(), http_status::accepted);
  record.state = transition::transition_state::aborted;
  backend_.start_result.record = record;
  const http_response response = send(post(R"({"to":"ledger","request_id":"a"})"));
  EXPECT_EQ(response.result(), http_status::ok);
  EXPECT_EQ(text_at(body_of(response), "/state"), "aborted");
  backend_.start_result = {kind::request_id_reused, {}, "abc-1", "it was for shadow", {}};
  const http_response reused = send(post(R"({"to":"ledger","request_id":"a"})"));
  EXPECT_EQ(reused.result(), http_status::conflict);
  EXPECT_EQ(error_code_of(reused), "request_id_reused");
  EXPECT_EQ(text_at(body_of(reused), "/error/id"), "abc-1");
}

TEST_F(AdminApi, SaysWhatBecameOfACancel) {
  backend_.history = {planned_record(backend_.time)};
  const auto cancel = [&] {
    http_request request = post("");
    request.method(http::verb::delete_);
    request.target("/v1/transitions/" + backend_.history[0].id);
    return send(request);
  };
  backend_.cancel_now = cancel_result::asked;
  EXPECT_EQ(cancel().result(), http_status::accepted);
  EXPECT_EQ(backend_.cancelled_by.back(), std::pair(backend_.history[0].id, std::string("127.0.0.1:5")));
  backend_.cancel_now = cancel_result::too_late;
  EXPECT_EQ(error_code_of(cancel()), "too_late_to_cancel");
  EXPECT_EQ(cancel().result(), http_status::conflict);
  backend_.cancel_now = cancel_result::already_ended;
  EXPECT_EQ(error_code_of(cancel()), "already_ended");
  backend_.cancel_now = cancel_result::not_found;
  http_request unknown = post("");
  unknown.method(http::verb::delete_);
  unknown.target("/v1/transitions/no-such-id");
  EXPECT_EQ(error_code_of(send(unknown)), "no_such_transition");
}

TEST_F(AdminApi, ListsTheSessionsOfThisSidecar) {
  session::session_info session;
  session.client = "10.0.0.7:50412";
  session.user = "app";
  session.database = "horde";
  session.gate = "gated";
  session.state = "in transaction";
  session.pinned = true;
  session.backend_pid = 4711;
  session.client_tls = "TLSv1.3";
  session.bytes_from_client = 120;
  session.age = std::chrono::milliseconds(1500);
  backend_.sessions_now = {session, {}};
  const json::value body = body_of(get("/v1/sessions"));
  EXPECT_EQ(text_at(body, "/sessions/0/client"), "10.0.0.7:50412");
  EXPECT_EQ(text_at(body, "/sessions/0/pinned"), "true");
  EXPECT_EQ(text_at(body, "/sessions/0/backend_pid"), "4711");
  EXPECT_EQ(text_at(body, "/sessions/0/client_tls"), "TLSv1.3");
  EXPECT_EQ(text_at(body, "/sessions/0/server_tls"), "null");
  EXPECT_EQ(text_at(body, "/sessions/0/age_ms"), "1500");
  EXPECT_EQ(text_at(body, "/sessions/1/backend_pid"), "null");
}

TEST_F(AdminApi, DrainsWhenAskedWithTheToken) {
  http_request request = post("{}");
  request.target("/v1/drain");
  const http_response response = send(request);
  EXPECT_EQ(response.result(), http_status::accepted);
  EXPECT_EQ(text_at(body_of(response), "/begun_now"), "true");
  EXPECT_EQ(text_at(body_of(send(request)), "/begun_now"), "false");
  EXPECT_EQ(backend_.drained_by[0], "127.0.0.1:5");
  request.erase(http::field::authorization);
  EXPECT_EQ(send(request).result(), http_status::forbidden);
  EXPECT_EQ(backend_.drained_by.size(), 2u);
}

TEST_F(AdminApi, ReloadsWhenAskedWithTheToken) {
  http_request request = post("{}");
  request.target("/v1/reload");
  backend_.reload_now = {reload_outcome::kind::taken, "f.yaml", {"log.level"}, {}};
  http_response response = send(request);
  EXPECT_EQ(response.result(), http_status::accepted);
  EXPECT_EQ(text_at(body_of(response), "/changed/0"), "log.level");
  backend_.reload_now = {reload_outcome::kind::invalid, "f.yaml", {}, {"f.yaml:3:1: a", "f.yaml:4:1: b"}};
  response = send(request);
  EXPECT_EQ(response.result(), http_status::unprocessable_entity);
  EXPECT_EQ(error_code_of(response), "invalid_configuration");
  EXPECT_EQ(text_at(body_of(response), "/error/problems/1"), "f.yaml:4:1: b");
  backend_.reload_now = {reload_outcome::kind::needs_restart, "f.yaml", {}, {"listen: cannot"}};
  response = send(request);
  EXPECT_EQ(response.result(), http_status::conflict);
  EXPECT_EQ(error_code_of(response), "needs_restart");
  request.erase(http::field::authorization);
  EXPECT_EQ(send(request).result(), http_status::forbidden);
  EXPECT_EQ(backend_.reloaded_by.size(), 3u);
}

TEST_F(AdminApi, FindsATransitionByItsId) {
  backend_.history = {planned_record(backend_.time)};
  EXPECT_EQ(get("/v1/transitions/6f1c7f3e-1111-4222-8333-444455556666").result(), http_status::ok);
  const http_response response = get("/v1/transitions/6f1c7f3e-1111-4222-8333-44445555666");
  EXPECT_EQ(response.result(), http_status::not_found);
  EXPECT_EQ(error_code_of(response), "no_such_transition");
  EXPECT_EQ(text_at(body_of(get("/v1/transitions")), "/transitions/0/to"), "ledger");
}

TEST_F(AdminApi, AnswersWhenTheBackendAnswersLater) {
  backend_.hold_answers = true;
  std::optional<http_response> answer;
  router_.handle(post(R"({"to":"ledger"})"), "peer",
                 [&answer](http_response response) { answer = std::move(response); });
  ASSERT_FALSE(answer);
  ASSERT_EQ(backend_.held_handlers.size(), 1u);
  backend_.held_handlers[0]({kind::unavailable, {}, {}, "down", {}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->result(), http_status::service_unavailable);
}

} // namespace
} // namespace ledgergate::admin
