#include "proxy/net/name_lookup.hpp"

#include <netdb.h>

#include <boost/asio/post.hpp>
#include <system_error>
#include <thread>
#include <utility>

namespace ledgergate::net {

namespace {

/// Blocks, possibly for many seconds.
lookup_result look_up(const place& what) {
  lookup_result result;
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(what.host.c_str(), std::to_string(what.port).c_str(), &hints, &found);
  if (error != 0) {
    result.failure = what.host + ": " + ::gai_strerror(error);
    return result;
  }
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    result.addresses.emplace_back(each->ai_addr, each->ai_addrlen).set_name(what.host);
  }
  ::freeaddrinfo(found);
  return result;
}

} // namespace

void lookup_return::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (context_ != nullptr) boost::asio::post(*context_, std::move(task));
}

void lookup_return::cut() {
  const std::lock_guard lock(mutex_);
  context_ = nullptr;
}

name_lookup::name_lookup(std::shared_ptr<lookup_return> way_back, place what)
    : way_back_(std::move(way_back)), place_(std::move(what)) {}

void name_lookup::add(callback done) {
  waiting_.push_back(std::move(done));
  if (!running_) begin();
}

void name_lookup::begin() {
  running_ = true;
  served_ = std::exchange(waiting_, {});
  auto work = [self = shared_from_this(), what = place_, way_back = way_back_] {
    const lookup_result result = look_up(what);
    way_back->post([self, result] { self->take(result); });
  };
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error& error) { // no thread to be had
    const lookup_result result{{}, place_.host + ": " + error.what()};
    way_back_->post([self = shared_from_this(), result] { self->take(result); });
  }
}

void name_lookup::take(const lookup_result& result) {
  running_ = false;
  for (const callback& done : std::exchange(served_, {}))
    done(result);
  if (!running_ && !waiting_.empty()) begin();
}

} // namespace ledgergate::net
