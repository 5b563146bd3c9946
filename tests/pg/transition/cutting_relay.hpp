// A network between sidecar and server that can be cut and mended.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace ledgergate::control {

class cutting_relay {
 public:
  cutting_relay(boost::asio::io_context& io, const std::string& server_port);
  ~cutting_relay();

  std::string port() const;
  /// Resets every connection on both sides and takes no new one.
  void cut();
  void mend() { open_ = true; }

 private:
  struct link;
  void accept();

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::endpoint server_;
  std::list<std::weak_ptr<link>> links_;
  bool open_ = true;
};

} // namespace ledgergate::control
