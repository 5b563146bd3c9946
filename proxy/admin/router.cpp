#include "proxy/admin/router.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/beast/core/string.hpp>

namespace ledgergate::admin {

namespace http = boost::beast::http;

namespace {

std::string_view path_of(const http_request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  return target.substr(0, target.find('?'));
}

/// What stands for `{id}` when the path fits the pattern, empty for a pattern without one; nothing when it
/// does not fit.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  constexpr std::string_view placeholder = "{id}";
  if (!pattern.ends_with(placeholder)) {
    return pattern == path ? std::optional<std::string_view>(std::in_place) : std::nullopt;
  }
  const std::string_view prefix = pattern.substr(0, pattern.size() - placeholder.size());
  if (!path.starts_with(prefix)) return std::nullopt;
  const std::string_view id = path.substr(prefix.size());
  if (id.empty() || id.find('/') != std::string_view::npos) return std::nullopt;
  return id;
}

/// `application/json`, with or without parameters.
bool is_json(const http_request& request) {
  if (request.count(http::field::content_type) != 1) return false;
  const auto field = request[http::field::content_type];
  std::string_view type(field.data(), field.size());
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t'))
    type.remove_suffix(1);
  return boost::beast::iequals(boost::beast::string_view(type.data(), type.size()), "application/json");
}

api_error token_error(token_check result, const std::string& problem) {
  const auto forbidden = [](const char* code, std::string message, const char* hint) {
    return api_error{http_status::forbidden, code, std::move(message), hint};
  };
  switch (result) {
  case token_check::not_configured:
    return forbidden("token_not_configured", "no token file is configured, so nothing may be changed",
                     "set admin.token_file in ledgergate.yaml and restart the sidecar");
  case token_check::unreadable:
    return forbidden("token_unreadable", "the sidecar cannot read its token: " + problem,
                     "mend the file named by admin.token_file; it is read again with the next request");
  case token_check::missing:
    return forbidden("token_missing", "this call needs the operator's token",
                     "send it as 'Authorization: Bearer TOKEN'; gatectl does so with --token-file");
  case token_check::malformed:
    return forbidden("token_malformed", "the Authorization field is not one bearer token",
                     "send exactly one field, 'Authorization: Bearer TOKEN'");
  case token_check::wrong:
  case token_check::accepted: break;
  }
  return forbidden("token_wrong", "this is not the operator's token",
                   "compare it with the file named by admin.token_file of this sidecar");
}

api_error viewer_error(token_check result, const std::string& problem) {
  api_error error = token_error(result, problem);
  if (result == token_check::missing) {
    error.message = "reading needs the viewer's or the operator's token here";
  } else if (result == token_check::unreadable) {
    error.hint = "mend the file named by admin.viewer_token_file; it is read again with the next request";
  } else if (result == token_check::wrong) {
    error.message = "this is neither the viewer's nor the operator's token";
    error.hint = "compare it with the files named by admin.viewer_token_file and admin.token_file";
  }
  return error;
}

} // namespace

router::router(admin_backend& backend, token_file tokens, std::vector<route> routes, token_file viewers,
               rate_limit rates)
    : backend_(backend), tokens_(std::move(tokens)), viewers_(std::move(viewers)), rates_(rates),
      routes_(std::move(routes)) {}

void router::handle(const http_request& request, const std::string& peer, respond answer) {
  if (request.version() >= 11 && request.count(http::field::host) != 1) {
    answer(error_reply({http_status::bad_request, "bad_host", "a request carries exactly one Host field",
                        "use an HTTP client that sends it"}));
    return;
  }
  const std::string_view path = path_of(request);
  const std::string_view sent(request.method_string().data(), request.method_string().size());
  const std::string_view method = sent == "HEAD" ? std::string_view("GET") : sent;
  std::string allowed;
  for (const route& candidate : routes_) {
    const std::optional<std::string_view> id = match(candidate.path, path);
    if (!id) continue;
    if (candidate.method == method) {
      if (candidate.effect != effect::open && !may_ask(request, peer, answer)) return;
      if (candidate.effect == effect::read && !may_read(request, peer, answer)) return;
      if (candidate.effect == effect::change && !may_change(request, peer, answer)) return;
      candidate.handle({request, peer, *id}, std::move(answer));
      return;
    }
    if (!allowed.empty()) allowed += ", ";
    allowed += candidate.method == "GET" ? std::string("GET, HEAD") : std::string(candidate.method);
  }
  if (allowed.empty()) {
    answer(error_reply(
        {http_status::not_found, "no_such_route", "there is nothing at this path", all_routes()}));
    return;
  }
  http_response response = error_reply({http_status::method_not_allowed, "method_not_allowed",
                                        "this path does not take that method", "it takes " + allowed});
  response.set(http::field::allow, allowed);
  answer(std::move(response));
}

/// Whoever shows the operator's token is never turned away for what others do from the same address.
bool router::may_ask(const http_request& request, const std::string& peer, const respond& answer) {
  if (rates_.admit(peer, std::chrono::steady_clock::now())) return true;
  if (tokens_.check(request) == token_check::accepted) return true;
  http_response response =
      error_reply({http_status::too_many_requests, "too_many_requests",
                   "too many requests come from this address", "wait a second, and ask less often"});
  response.set(http::field::retry_after, "1");
  answer(std::move(response));
  return false;
}

bool router::may_read(const http_request& request, const std::string& peer, const respond& answer) {
  if (!viewers_.configured()) return true;
  const token_check result = viewers_.check(request);
  if (result == token_check::accepted || tokens_.check(request) == token_check::accepted) return true;
  refuse(request, peer, answer, viewer_error(result, viewers_.problem()));
  return false;
}

bool router::may_change(const http_request& request, const std::string& peer, const respond& answer) {
  if (is_cross_origin(request)) {
    refuse(request, peer, answer,
           {http_status::forbidden, "cross_origin", "a page of another origin may not change anything",
            "use gatectl, or a client that sends no Origin field"});
    return false;
  }
  const token_check result = tokens_.check(request);
  if (result != token_check::accepted) {
    refuse(request, peer, answer, token_error(result, tokens_.problem()));
    return false;
  }
  if (!is_json(request)) {
    refuse(request, peer, answer,
           {http_status::unsupported_media_type, "not_json", "a change is asked for in JSON",
            "send 'Content-Type: application/json' and a JSON body"});
    return false;
  }
  return true;
}

void router::refuse(const http_request& request, const std::string& peer, const respond& answer,
                    const api_error& error) {
  backend_.refused({peer, std::string(request.method_string()), std::string(path_of(request)), error.code});
  answer(error_reply(error));
}

std::string router::all_routes() const {
  std::string list = "the calls are";
  const char* separator = " ";
  for (const route& known : routes_) {
    list += separator + std::string(known.method) + ' ' + std::string(known.path);
    separator = ", ";
  }
  return list;
}

} // namespace ledgergate::admin
