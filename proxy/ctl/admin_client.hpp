// Asks the admin port: one connection per request, with a time limit on the whole of it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/value.hpp>

#include "proxy/ctl/admin_address.hpp"

namespace ledgergate::ctl {

/// An answer of the API, of whatever status.
struct admin_answer {
  unsigned status = 0;
  boost::json::value body;
};

/// There is no answer.
struct client_error {
  enum class stage {
    before_sending, ///< nothing reached the sidecar
    after_sending,  ///< the request may have been carried out
    interrupted,    ///< Ctrl-C; the request may have been carried out
  };
  enum stage stage = stage::before_sending;
  std::string message;
  std::string hint;
};

using admin_result = std::variant<admin_answer, client_error>;

/// For one request, from connecting to the last byte of the answer. A change is given the time that the
/// sidecar gives its database, and more.
struct client_limits {
  std::chrono::milliseconds read{10'000};
  std::chrono::milliseconds change{30'000};
};

/// For an https address; PEM files, none of which must be given.
struct client_tls {
  std::optional<std::string> ca;   ///< who may have issued the sidecar's certificate; else the system's list
  std::optional<std::string> cert; ///< shown to a sidecar that asks for it, with its chain
  std::optional<std::string> key;  ///< of `cert`; else in the same file
};

class admin_client {
 public:
  /// `interrupted` is asked now and then while a request is under way.
  admin_client(admin_address address, std::optional<std::string> token, std::function<bool()> interrupted,
               client_tls tls = {}, client_limits limits = {});

  [[nodiscard]] admin_result get(std::string_view path) const;
  [[nodiscard]] admin_result post(std::string_view path, const boost::json::value& body) const;

  /// DELETE; named so because `delete` is taken.
  [[nodiscard]] admin_result remove(std::string_view path) const;

  const admin_address& address() const { return address_; }

 private:
  admin_address address_;
  std::optional<std::string> token_;
  std::function<bool()> interrupted_;
  client_tls tls_;
  client_limits limits_;
};

} // namespace ledgergate::ctl
