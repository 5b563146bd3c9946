#include "proxy/admin/page_api.hpp"

#include <string>

#include "proxy/admin/page_files.hpp"

namespace ledgergate::admin {

namespace http = boost::beast::http;

namespace {

std::string_view content_type_of(std::string_view path) {
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  if (path.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

/// Nothing but the files of this server may run, be shown or be asked, and no other page may frame this one
/// (Content Security Policy Level 3).
http_response file_reply(const page_file& file) {
  http_response response = text_reply(http_status::ok, content_type_of(file.path), std::string(file.content));
  response.set("Content-Security-Policy",
               "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  response.set("X-Frame-Options", "DENY");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Opener-Policy", "same-origin");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

void show_events(live_feed& feed, const respond& answer) {
  auto subscribed = feed.subscribe();
  if (subscribed == nullptr) {
    answer(
        error_reply({http_status::service_unavailable, "too_many_viewers",
                     "too many pages watch this sidecar", "close one of them, and try again in a moment"}));
    return;
  }
  if (answer.stream(std::move(subscribed))) return;
  answer(error_reply({http_status::not_acceptable, "events_only", "these are events and end only with you",
                      "use a client that reads server-sent events over HTTP/1.1"}));
}

} // namespace

std::vector<route> page_routes(live_feed& feed) {
  std::vector<route> routes;
  for (const page_file& file : page_files()) {
    const std::string_view path = file.path == "/index.html" ? std::string_view("/") : file.path;
    routes.push_back({"GET", path, effect::open,
                      [file](const api_call&, const respond& answer) { answer(file_reply(file)); }});
  }
  routes.push_back({"GET", "/v1/events", effect::read, [&feed](const api_call& call, const respond& answer) {
                      // HEAD ends with the fields; a feed has no end.
                      if (call.request.method() == http::verb::head) {
                        answer(text_reply(http_status::ok, "text/event-stream", {}));
                      } else {
                        show_events(feed, answer);
                      }
                    }});
  return routes;
}

} // namespace ledgergate::admin
