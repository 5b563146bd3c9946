#include "proxy/net/name_resolver.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

#include "proxy/net/name_lookup.hpp"

namespace ledgergate::net {

namespace {

/// One answer in the making.
struct request : std::enable_shared_from_this<request> {
  request(boost::asio::io_context& context, std::size_t places, name_resolver::callback callback)
      : parts(places), missing(places), timer(context), done(std::move(callback)) {}

  std::vector<std::optional<lookup_result>> parts; ///< in the order of the places
  std::size_t missing;
  boost::asio::steady_timer timer;
  name_resolver::callback done; ///< empty once answered

  void take(std::size_t index, const lookup_result& result) {
    parts[index] = result;
    if (--missing == 0) answer({});
  }

  void answer(const std::string& lateness) {
    timer.cancel();
    const name_resolver::callback callback = std::exchange(done, nullptr);
    if (!callback) return;
    resolution made;
    const auto add_failure = [&](const std::string& text) {
      if (!text.empty()) made.failures += (made.failures.empty() ? "" : "; ") + text;
    };
    for (const auto& part : parts) {
      add_failure(part ? part->failure : lateness);
      if (part) made.addresses.insert(made.addresses.end(), part->addresses.begin(), part->addresses.end());
    }
    callback(made);
  }
};

} // namespace

struct name_resolver::state : std::enable_shared_from_this<state> {
  state(boost::asio::io_context& io, std::vector<place> all, std::chrono::milliseconds limit)
      : context(io), way_back(std::make_shared<lookup_return>(io)), places(std::move(all)), patience(limit) {
    for (const place& each : places)
      lookups.push_back(std::make_shared<name_lookup>(way_back, each));
  }

  boost::asio::io_context& context;
  const std::shared_ptr<lookup_return> way_back;
  const std::vector<place> places;
  const std::chrono::milliseconds patience;
  std::vector<std::shared_ptr<name_lookup>> lookups; ///< one per place; literal ones are never used

  void begin(callback done) {
    const auto made = std::make_shared<request>(context, places.size(), std::move(done));
    made->timer.expires_after(patience);
    auto on_expiry = [made](const boost::system::error_code& ec) {
      if (!ec) made->answer("a name could not be looked up in time");
    };
    made->timer.async_wait(std::move(on_expiry));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto literal = socket_address::from_place(places[i]);
      if (literal) {
        made->take(i, {{*literal}, {}});
      } else if (places[i].is_unix()) {
        made->take(i, {{}, places[i].unix_folder + ": the path of a unix socket has at most 107 bytes"});
      } else {
        lookups[i]->add([made, i](const lookup_result& result) { made->take(i, result); });
      }
    }
  }
};

name_resolver::name_resolver(boost::asio::io_context& context, std::vector<place> places,
                             std::chrono::milliseconds patience) {
  for (const place& each : places) {
    const auto literal = socket_address::from_place(each);
    if (literal) literal_addresses_.push_back(*literal);
    is_literal_ = is_literal_ && literal.has_value();
  }
  state_ = std::make_shared<state>(context, std::move(places), patience);
}

name_resolver::~name_resolver() { state_->way_back->cut(); }

void name_resolver::resolve(callback done) {
  boost::asio::post(state_->context,
                    [self = state_, done = std::move(done)]() mutable { self->begin(std::move(done)); });
}

} // namespace ledgergate::net
