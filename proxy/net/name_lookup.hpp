// Look-ups of one name, one at a time. Part of name_resolver.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proxy/net/socket_address.hpp"

namespace ledgergate::net {

struct lookup_result {
  std::vector<socket_address> addresses;
  std::string failure; ///< empty when there are addresses
};

/// The way back from a look-up's thread to the io_context, cut when the io_context is about to go.
class lookup_return {
 public:
  explicit lookup_return(boost::asio::io_context& context) : context_(&context) {}
  void post(std::function<void()> task);
  void cut();

 private:
  std::mutex mutex_;
  boost::asio::io_context* context_; ///< guarded by mutex_; null once cut
};

class name_lookup : public std::enable_shared_from_this<name_lookup> {
 public:
  using callback = std::function<void(const lookup_result&)>;

  name_lookup(std::shared_ptr<lookup_return> way_back, place what);

  /// On the io_context's thread, as `done` is. The answer is from a look-up that begins now or later.
  void add(callback done);

 private:
  void begin();
  void take(const lookup_result&);

  const std::shared_ptr<lookup_return> way_back_;
  const place place_;
  std::vector<callback> waiting_; ///< asked for since the running look-up began
  std::vector<callback> served_;  ///< by the running look-up
  bool running_ = false;
};

} // namespace ledgergate::net
