// Which call a request is, and whether it may be made: path and method, and for everything that changes
// something the origin, the token and the content type, in this order. What the calls do stands in api.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/admin/admin_backend.hpp"
#include "proxy/admin/authorization.hpp"
#include "proxy/admin/replies.hpp"
#include "proxy/admin/request_rates.hpp"

namespace ledgergate::admin {

/// A request that was let through.
struct api_call {
  const http_request& request;
  const std::string& peer;
  std::string_view id; ///< what stands in the place of `{id}`
};

enum class effect {
  open,   ///< GET and HEAD that need no token in any configuration
  read,   ///< GET and HEAD; never changes anything; needs a token when a viewer's token is configured
  change, ///< needs the token, JSON, and no foreign page behind it
};

/// One call of the API. `path` may end in `{id}`, which stands for one segment.
struct route {
  std::string_view method;
  std::string_view path;
  enum effect effect;
  std::function<void(const api_call&, respond)> handle;
};

class router {
 public:
  /// `viewers` has the token for reading; without one in it everybody may read.
  router(admin_backend& backend, token_file tokens, std::vector<route> routes,
         token_file viewers = token_file(std::nullopt), rate_limit rates = {});

  /// Finds the route and calls it, or answers itself. HEAD is handled as GET; its body is dropped where it is
  /// sent.
  void handle(const http_request& request, const std::string& peer, respond answer);

 private:
  bool may_ask(const http_request& request, const std::string& peer, const respond& answer);
  bool may_read(const http_request& request, const std::string& peer, const respond& answer);
  bool may_change(const http_request& request, const std::string& peer, const respond& answer);
  void refuse(const http_request& request, const std::string& peer, const respond& answer,
              const api_error& error);
  std::string all_routes() const;

  admin_backend& backend_;
  token_file tokens_;
  token_file viewers_;
  request_rates rates_;
  std::vector<route> routes_;
};

} // namespace ledgergate::admin
