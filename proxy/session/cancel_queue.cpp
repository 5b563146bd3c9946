#include "proxy/session/cancel_queue.hpp"

#include <array>
#include <utility>

#include "proxy/net/stream_socket.hpp"
#include "proxy/session/upstream_connector.hpp"

namespace ledgergate::session {

namespace {

constexpr std::size_t max_jobs = 32;
constexpr std::size_t max_waiting = 4096;
/// A server closes the connection of a cancel request as soon as it has sent the signal.
constexpr std::chrono::seconds server_patience{5};

} // namespace

/// One CancelRequest: connect, send, wait until the server closes. Only then is the client's socket closed
/// (who waits for that end may rely on the cancel having been sent).
class cancel_job final : public net::event_loop::disposable, private net::stream_socket::owner {
 public:
  cancel_job(cancel_queue& queue, cancel_order order)
      : queue_(queue), order_(std::move(order)), server_(queue.loop_, *this),
        connector_(queue.loop_, server_, [this](connect_outcome outcome) { on_connected(outcome); }),
        timer_(queue.loop_, [this] { finish(); }) {}

  void begin() {
    connector_.start({order_.target.server}, queue_.patience_.connect, queue_.encryption_of(order_.target));
  }

 private:
  void on_ready(net::stream_socket&) override {
    if (connected_) {
      await_end();
    } else {
      connector_.on_ready();
    }
  }

  void on_connected(connect_outcome outcome) {
    if (outcome != connect_outcome::connected) return finish();
    connected_ = true;
    // At most a few hundred bytes on a fresh connection: the kernel takes them whole.
    if (server_.write(order_.packet).status != net::io_status::ok) return finish();
    timer_.expire_after(server_patience);
    await_end();
  }

  void await_end() {
    std::array<char, 256> ignored{};
    while (!over_ && server_.can_read()) {
      const net::io_result result = server_.read(ignored);
      if (result.status == net::io_status::end || result.status == net::io_status::failed) finish();
    }
  }

  void finish() {
    if (std::exchange(over_, true)) return;
    connector_.abandon();
    timer_.cancel();
    server_.close();
    order_.client.close();
    queue_.finished(*this);
  }

  cancel_queue& queue_;
  cancel_order order_;
  net::stream_socket server_;
  upstream_connector connector_;
  net::timer timer_;
  bool connected_ = false;
  bool over_ = false;
};

cancel_queue::cancel_queue(net::event_loop& loop, session_patience patience, const tls::context_store* tls)
    : loop_(loop), patience_(patience), tls_(tls) {}

/// As the session is connected: a server that speaks TLS only would not hear a request in clear, and the key
/// must not be shown to the network.
upstream_encryption cancel_queue::encryption_of(const cancel_target& target) const {
  if (!target.encrypted || tls_ == nullptr) return {};
  const auto contexts = tls_->current();
  const bool checks = contexts->upstream_mode != config::upstream_tls_mode::prefer;
  return {checks ? contexts->upstream_mode : config::upstream_tls_mode::require, contexts->upstream};
}

cancel_queue::~cancel_queue() = default;

void cancel_queue::submit(cancel_order order) {
  if (!order.client || jobs_.size() < max_jobs) return begin(std::move(order));
  if (waiting_.size() >= max_waiting) return;
  waiting_.push_back({std::move(order), net::event_loop::clock::now() + patience_.client_startup});
}

void cancel_queue::begin(cancel_order order) {
  auto made = std::make_unique<cancel_job>(*this, std::move(order));
  cancel_job& job = *made;
  jobs_.emplace(&job, std::move(made));
  job.begin();
}

void cancel_queue::finished(cancel_job& job) {
  auto node = jobs_.extract(&job);
  if (!node.empty()) loop_.dispose(std::move(node.mapped()));
  const auto now = net::event_loop::clock::now();
  while (!waiting_.empty() && jobs_.size() < max_jobs) {
    waiting_order next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next.deadline > now) begin(std::move(next.order));
  }
}

} // namespace ledgergate::session
