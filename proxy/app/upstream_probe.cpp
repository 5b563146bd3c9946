#include "proxy/app/upstream_probe.hpp"

#include <chrono>
#include <utility>

#include "proxy/observe/log.hpp"

namespace ledgergate::app {

namespace {

constexpr std::chrono::seconds interval{1};
constexpr std::chrono::seconds patience{2};

} // namespace

struct upstream_probe::state : std::enable_shared_from_this<state> {
  using protocol = boost::asio::generic::stream_protocol;

  state(boost::asio::io_context& context, net::name_resolver& names, session::session_registry& sessions,
        std::function<bool()> doubt)
      : resolver(names), registry(sessions), in_doubt(std::move(doubt)), socket(context), pause(context),
        limit(context) {}

  net::name_resolver& resolver;
  session::session_registry& registry;
  std::function<bool()> in_doubt;
  protocol::socket socket;
  boost::asio::steady_timer pause;
  boost::asio::steady_timer limit; ///< of one attempt
  std::vector<net::socket_address> addresses;
  bool known = false;
  bool stopped = false;

  void look() {
    if (stopped) return;
    if (known && registry.upstream().reachable && !in_doubt()) return look_later();
    if (resolver.is_literal()) return try_address(resolver.literal_addresses(), 0, "no address");
    resolver.resolve([self = shared_from_this()](const net::resolution& found) {
      self->try_address(found.addresses, 0, found.failures.empty() ? "no address" : found.failures);
    });
  }

  void look_later() {
    pause.expires_after(interval);
    auto on_expiry = [self = shared_from_this()](const boost::system::error_code& ec) {
      if (!ec) self->look();
    };
    pause.async_wait(std::move(on_expiry));
  }

  void try_address(const std::vector<net::socket_address>& all, std::size_t index, const std::string& why) {
    if (stopped) return;
    addresses = all;
    if (index == addresses.size()) {
      known = true;
      registry.upstream_failed(why);
      if (registry.upstream().failures_in_a_row == 1) {
        observe::log(config::log_level::warn, "the upstream server cannot be connected to: " + why);
      }
      return look_later();
    }
    const net::socket_address& to = addresses[index];
    boost::system::error_code ignored;
    socket.close(ignored);
    limit.expires_after(patience);
    auto on_limit = [self = shared_from_this()](const boost::system::error_code& ec) {
      boost::system::error_code ignored_too;
      if (!ec) self->socket.close(ignored_too);
    };
    limit.async_wait(std::move(on_limit));
    auto on_connect = [self = shared_from_this(), index](const boost::system::error_code& ec) {
      self->finish(index, ec);
    };
    socket.async_connect(protocol::endpoint(to.data(), to.size()), std::move(on_connect));
  }

  void finish(std::size_t index, const boost::system::error_code& ec) {
    limit.cancel();
    boost::system::error_code ignored;
    socket.close(ignored);
    if (stopped) return;
    if (ec) return try_address(addresses, index + 1, addresses[index].to_text() + ": " + ec.message());
    known = true;
    registry.upstream_connected();
    look_later();
  }
};

upstream_probe::upstream_probe(boost::asio::io_context& context, net::name_resolver& resolver,
                               session::session_registry& registry, std::function<bool()> in_doubt)
    : state_(std::make_shared<state>(context, resolver, registry, std::move(in_doubt))) {}

upstream_probe::~upstream_probe() { stop(); }

void upstream_probe::start() { state_->look(); }

void upstream_probe::stop() {
  state_->stopped = true;
  state_->pause.cancel();
  state_->limit.cancel();
  boost::system::error_code ignored;
  state_->socket.close(ignored);
}

bool upstream_probe::known() const { return state_->known; }

} // namespace ledgergate::app
