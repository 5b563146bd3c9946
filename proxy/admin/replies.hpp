// The message types of the admin API and the few ways to build an answer.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "proxy/admin/event_feed.hpp"

namespace ledgergate::admin {

using http_status = boost::beast::http::status;
using http_request = boost::beast::http::request<boost::beast::http::string_body>;
using http_response = boost::beast::http::response<boost::beast::http::string_body>;

/// Takes the one answer to a request: a whole one, or a feed of events that goes on until the feed is
/// finished. May be called from inside the handler or later, on the same thread; a second call is ignored, as
/// is one that comes after the connection is gone.
class respond {
 public:
  using take_response = std::function<void(http_response)>;
  using take_feed = std::function<void(std::shared_ptr<event_feed>)>;

  template <typename Taker>
  requires(std::is_invocable_v<Taker, http_response> && !std::is_same_v<std::decay_t<Taker>, respond>)
      respond(Taker taker)
      : response_(std::move(taker)) {}
  respond(take_response response, take_feed feed) : response_(std::move(response)), feed_(std::move(feed)) {}

  void operator()(http_response response) const { response_(std::move(response)); }
  /// Where no feed can be taken, nothing happens and false is returned.
  bool stream(std::shared_ptr<event_feed> feed) const {
    if (feed_) feed_(std::move(feed));
    return feed_ != nullptr;
  }

 private:
  take_response response_;
  take_feed feed_;
};

/// Handles a complete request from `peer` ("127.0.0.1:50412", "unix pid 811 uid 0"). It must keep nothing of
/// the request beyond the call and must see to it that `respond` is called once.
using request_handler = std::function<void(const http_request& request, const std::string& peer, respond)>;

/// What every error of the API looks like: {"error": {"code", "message", "hint"}}.
struct api_error {
  http_status status;
  std::string code;    ///< one snake_case word that a program can compare
  std::string message; ///< what happened
  std::string hint;    ///< what to do next
  boost::json::object details =
      {}; ///< further members of "error", for example the id of the running transition
};

/// An answer with a body of the given type. Nothing of this API may be cached or sniffed.
http_response text_reply(http_status status, std::string_view content_type, std::string body);
http_response json_reply(http_status status, const boost::json::object& body);
http_response error_reply(const api_error& error);

} // namespace ledgergate::admin
