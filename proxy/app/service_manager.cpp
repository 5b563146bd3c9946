#include "proxy/app/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "proxy/net/unique_fd.hpp"

namespace ledgergate::app {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

} // namespace

service_environment read_service_environment() {
  service_environment read;
  read.socket = variable("NOTIFY_SOCKET");
  const auto interval = number(variable("WATCHDOG_USEC"));
  const std::string meant = variable("WATCHDOG_PID");
  if (interval && (meant.empty() || number(meant) == ::getpid()))
    read.watchdog = std::chrono::microseconds(*interval);
  return read;
}

service_manager::service_manager(boost::asio::io_context& io, service_environment environment,
                                 std::function<void(std::function<void()>)> ask_all)
    : io_(io), environment_(std::move(environment)), ask_all_(std::move(ask_all)), timer_(io) {}

void service_manager::ready(const std::string& status) {
  send("READY=1\nSTATUS=" + status);
  if (environment_.watchdog && !environment_.socket.empty()) feed_watchdog();
}

void service_manager::stopping(std::chrono::milliseconds patience) {
  const auto in_microseconds = std::chrono::microseconds(patience).count();
  send("STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=" + std::to_string(in_microseconds));
}

void service_manager::send(const std::string& lines) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = environment_.socket;
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  std::copy(path.begin(), path.end(), address.sun_path);
  if (path.front() == '@') address.sun_path[0] = '\0';
  const net::unique_fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  ::sendto(socket.get(), lines.data(), lines.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), length);
}

/// Twice in each interval, as the manual page asks; the next question waits for the answer to this one.
void service_manager::feed_watchdog() {
  timer_.expires_after(*environment_.watchdog / 2);
  timer_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    ask_all_([this] {
      boost::asio::post(io_, [this] {
        send("WATCHDOG=1");
        feed_watchdog();
      });
    });
  });
}

} // namespace ledgergate::app
