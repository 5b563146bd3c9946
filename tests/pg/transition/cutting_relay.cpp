#include "tests/pg/transition/cutting_relay.hpp"

#include <array>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/write.hpp>

namespace ledgergate::control {

using boost::asio::ip::tcp;

struct cutting_relay::link : std::enable_shared_from_this<cutting_relay::link> {
  link(tcp::socket client_socket, boost::asio::io_context& io)
      : client(std::move(client_socket)), server(io) {}

  void pump(tcp::socket& from, tcp::socket& to, std::array<char, 8192>& buffer) {
    from.async_read_some(
        boost::asio::buffer(buffer), [self = shared_from_this(), &from, &to,
                                      &buffer](const boost::system::error_code& ec, std::size_t count) {
          if (ec) return self->reset();
          boost::asio::async_write(
              to, boost::asio::buffer(buffer, count),
              [self, &from, &to, &buffer](const boost::system::error_code& failed, std::size_t) {
                if (failed) return self->reset();
                self->pump(from, to, buffer);
              });
        });
  }

  void reset() {
    boost::system::error_code ignored;
    for (auto* socket : {&client, &server}) {
      if (!socket->is_open()) continue;
      socket->set_option(tcp::socket::linger(true, 0), ignored);
      socket->close(ignored);
    }
  }

  tcp::socket client;
  tcp::socket server;
  std::array<char, 8192> up{};
  std::array<char, 8192> down{};
};

cutting_relay::cutting_relay(boost::asio::io_context& io, const std::string& server_port)
    : io_(io), acceptor_(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
      server_(boost::asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::stoi(server_port))) {
  accept();
}

cutting_relay::~cutting_relay() { cut(); }

std::string cutting_relay::port() const { return std::to_string(acceptor_.local_endpoint().port()); }

void cutting_relay::cut() {
  open_ = false;
  for (const auto& weak : std::exchange(links_, {})) {
    if (const auto alive = weak.lock()) alive->reset();
  }
}

void cutting_relay::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& ec, tcp::socket client) {
    if (ec == boost::asio::error::operation_aborted) return;
    if (!ec && open_) {
      const auto made = std::make_shared<link>(std::move(client), io_);
      links_.push_back(made);
      boost::system::error_code failed;
      made->server.connect(server_, failed);
      if (!failed) {
        made->pump(made->client, made->server, made->up);
        made->pump(made->server, made->client, made->down);
      }
    }
    accept();
  });
}

} // namespace ledgergate::control
