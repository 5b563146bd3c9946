#include "proxy/admin/admin_listener.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/endpoint.hpp"

namespace ledgergate::admin {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using local = asio::local::stream_protocol;
using boost::system::error_code;

constexpr std::chrono::milliseconds pause_after_accept_error{100};

std::string name_of_peer(const tcp::socket&, const tcp::endpoint& peer) {
  const std::string address = peer.address().to_string();
  const std::string port = std::to_string(peer.port());
  return peer.address().is_v6() ? '[' + address + "]:" + port : address + ':' + port;
}

/// A unix socket's peer has no address, but the kernel knows which process it is.
std::string name_of_peer(local::socket& socket, const local::endpoint&) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return "unix";
  return "unix pid " + std::to_string(credentials.pid) + " uid " + std::to_string(credentials.uid);
}

std::uint16_t port_of(const tcp::endpoint& endpoint) { return endpoint.port(); }
std::uint16_t port_of(const local::endpoint&) { return 0; }

/// The file of a unix socket, removed when its listener closes, unless another process has put its own there
/// meanwhile.
class socket_file {
 public:
  socket_file() = default;
  explicit socket_file(std::string path) : path_(std::move(path)) {
    struct stat status {};
    if (::lstat(path_.c_str(), &status) != 0) return;
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  void remove() {
    struct stat status {};
    if (path_.empty() || ::lstat(path_.c_str(), &status) != 0) return;
    if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
    path_.clear();
  }

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

template <typename Protocol>
class typed_listener : public admin_listener, public std::enable_shared_from_this<typed_listener<Protocol>> {
 public:
  using acceptor_type = asio::basic_socket_acceptor<Protocol>;

  typed_listener(acceptor_type acceptor, socket_file file)
      : acceptor_(std::move(acceptor)), timer_(acceptor_.get_executor()), file_(std::move(file)) {}

  void accept(accept_handler handler) override {
    handler_ = std::move(handler);
    accept_next();
  }

  void close() override {
    error_code ignored;
    acceptor_.close(ignored);
    timer_.cancel();
    file_.remove();
    handler_ = nullptr;
  }

  std::uint16_t port() const override {
    error_code ignored;
    return port_of(acceptor_.local_endpoint(ignored));
  }

 private:
  void accept_next() {
    peer_ = {};
    acceptor_.async_accept(
        peer_, [self = this->shared_from_this()](error_code ec, typename Protocol::socket socket) {
          self->on_accept(ec, std::move(socket));
        });
  }

  void on_accept(error_code ec, typename Protocol::socket socket) {
    if (!acceptor_.is_open()) return;
    if (ec) {
      timer_.expires_after(pause_after_accept_error);
      timer_.async_wait([self = this->shared_from_this()](error_code) {
        if (self->acceptor_.is_open()) self->accept_next();
      });
      return;
    }
    std::string peer = name_of_peer(socket, peer_);
    handler_(http_connection::socket_type(std::move(socket)), std::move(peer));
    if (acceptor_.is_open()) accept_next();
  }

  acceptor_type acceptor_;
  asio::steady_timer timer_;
  socket_file file_;
  typename Protocol::endpoint peer_;
  accept_handler handler_;
};

std::string failure(const char* action, const config::endpoint& address, const error_code& ec) {
  return std::string("admin.address: cannot ") + action + ' ' + config::to_string(address) + ": " +
         ec.message();
}

bound_listeners bind_tcp(const asio::any_io_executor& executor, const config::endpoint& address) {
  error_code ec;
  tcp::resolver resolver(executor);
  const auto found = resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive, ec);
  if (ec) return failure("resolve", address, ec);
  std::vector<std::shared_ptr<admin_listener>> listeners;
  for (const auto& entry : found) {
    tcp::acceptor acceptor(executor);
    const tcp::endpoint endpoint = entry.endpoint();
    acceptor.open(endpoint.protocol(), ec);
    if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
    if (!ec && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), ec);
    if (!ec) acceptor.bind(endpoint, ec);
    if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
    if (ec) return failure("listen on", address, ec);
    listeners.push_back(std::make_shared<typed_listener<tcp>>(std::move(acceptor), socket_file()));
  }
  return listeners;
}

/// Removes what a dead process left at the path. A reason to refuse is returned, empty when the path is free.
std::string clear_stale_socket(const asio::any_io_executor& executor, const config::endpoint& address) {
  struct stat status {};
  if (::lstat(address.unix_path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return "admin.address: " + address.unix_path + " exists and is not a socket; it was left alone";
  }
  error_code ec;
  local::socket probe(executor);
  probe.open(local(), ec);
  // Not blocking: a listener with a full backlog would hold the probe up, and is as alive as one that
  // accepts.
  if (!ec) probe.non_blocking(true, ec);
  if (!ec) probe.connect(local::endpoint(address.unix_path), ec);
  if (ec != asio::error::connection_refused) {
    return "admin.address: another process listens on " + address.unix_path + "; it was left alone";
  }
  if (::unlink(address.unix_path.c_str()) != 0)
    return failure("replace", address, {errno, boost::system::system_category()});
  return {};
}

bound_listeners bind_unix(const asio::any_io_executor& executor, const config::endpoint& address) {
  if (address.unix_path.size() >= sizeof(sockaddr_un{}.sun_path)) {
    return "admin.address: the path " + address.unix_path +
           " is too long for a unix socket (at most 107 bytes)";
  }
  std::string refusal = clear_stale_socket(executor, address);
  if (!refusal.empty()) return refusal;
  error_code ec;
  asio::basic_socket_acceptor<local> acceptor(executor);
  acceptor.open(local(), ec);
  // On Linux the mode of the open socket is what bind() gives the file: it is never open to others, not even
  // for a moment.
  if (!ec && ::fchmod(acceptor.native_handle(), 0600) != 0)
    ec.assign(errno, boost::system::system_category());
  if (!ec) acceptor.bind(local::endpoint(address.unix_path), ec);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (ec) return failure("listen on", address, ec);
  std::vector<std::shared_ptr<admin_listener>> listeners;
  listeners.push_back(
      std::make_shared<typed_listener<local>>(std::move(acceptor), socket_file(address.unix_path)));
  return listeners;
}

} // namespace

bound_listeners bind_admin_address(asio::any_io_executor executor, const config::endpoint& address) {
  return address.is_unix() ? bind_unix(executor, address) : bind_tcp(executor, address);
}

} // namespace ledgergate::admin
