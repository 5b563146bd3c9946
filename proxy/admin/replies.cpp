#include "proxy/admin/replies.hpp"

#include <boost/json/serialize.hpp>
#include <utility>

namespace ledgergate::admin {

namespace http = boost::beast::http;
namespace json = boost::json;

http_response text_reply(http_status status, std::string_view content_type, std::string body) {
  http_response response(status, 11);
  response.set(http::field::content_type, content_type);
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.body() = std::move(body);
  response.prepare_payload();
  return response;
}

http_response json_reply(http_status status, const json::object& body) {
  return text_reply(status, "application/json", json::serialize(body) + '\n');
}

http_response error_reply(const api_error& error) {
  json::object content{{"code", error.code}, {"message", error.message}, {"hint", error.hint}};
  for (const auto& detail : error.details)
    content.insert(detail);
  json::object body;
  body.emplace("error", std::move(content));
  return json_reply(error.status, body);
}

} // namespace ledgergate::admin
