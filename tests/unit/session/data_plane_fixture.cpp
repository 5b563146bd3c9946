#include "tests/unit/session/data_plane_fixture.hpp"

#include <cerrno>
#include <thread>
#include <utility>

#include "protocol/wire.hpp"

namespace ledgergate::test {

namespace {

/// Where the stub server listens.
net::place place_of(int listening) {
  const auto address = net::socket_address::local_of(listening);
  const std::string text = address.to_text();
  return {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(text.substr(text.find(':') + 1))), ""};
}

} // namespace

void test_peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ASSERT_GT(sent, 0) << "errno " << errno;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string test_peer::receive(std::size_t bytes) {
  std::string got(bytes, '\0');
  std::size_t there = 0;
  while (there < bytes && readable(fd_.get(), deadline)) {
    const auto more = ::recv(fd_.get(), got.data() + there, bytes - there, 0);
    if (more <= 0) break;
    there += static_cast<std::size_t>(more);
  }
  got.resize(there);
  return got;
}

std::string test_peer::receive_message() {
  const std::string header = receive(5);
  if (header.size() < 5) return {};
  return header + receive(protocol::load_int32(header.data() + 1) - 4);
}

std::string test_peer::receive_until_ready() {
  std::string got;
  const auto is_ready = [&] {
    return got.size() >= 6 &&
           std::string_view(got).substr(got.size() - 6, 5) == std::string_view("Z\0\0\0\5", 5);
  };
  while (!is_ready()) {
    const std::string more = receive(1);
    if (more.empty()) break;
    got += more;
  }
  return got;
}

std::string test_peer::receive_all() {
  std::string got;
  for (;;) {
    const std::string more = receive(1);
    if (more.empty()) return got;
    got += more;
  }
}

void test_peer::shut_write() { ::shutdown(fd_.get(), SHUT_WR); }

void test_peer::reset() {
  const linger at_once{1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  fd_.reset();
}

DataPlane::DataPlane() : listening_(tcp_listener()) {
  // The engine follows the conversation but adds nothing to it: what is tested here is what happens around
  // it.
  settings.gate.mode = config::gate_mode::observe;
  settings.gate.database = "gated";
  settings.gate.lock_key = 42;
  settings.gate.tables.emplace_back().name = "ledger";
  settings.control_row.table = "control";
  settings.control_row.where = "id = 1";
  settings.modes = {"shadow", "ledger"};
  settings.upstream.connect_timeout = deadline;
  settings.limits.client_startup_timeout = deadline;
  observe::set_up_log({config::log_level::error, config::log_format::text, config::log_statements::redacted});
}

DataPlane::~DataPlane() {
  if (plane) plane->stop();
}

void DataPlane::start() {
  resolver = std::make_unique<net::name_resolver>(io, std::vector{place_of(listening_.get())}, deadline);
  registry = std::make_unique<session::session_registry>(settings.limits.max_clients);
  services = std::make_unique<session::services>(session::services{
      std::make_shared<const config::settings>(settings), gate::make_gate_rules(settings), *resolver,
      *registry, cancels, log, [](const session::control_row_handler& answer) { answer(std::nullopt); },
      [](const session::catalog_handler& answer) { answer(true); }});
  plane = std::make_unique<session::data_plane>(*services, metrics, 1);
  plane->start();
}

test_peer DataPlane::connect(transport over) {
  auto [theirs, ours] = over == transport::tcp ? tcp_pair() : unix_pair();
  plane->add_client(std::move(theirs));
  return test_peer(std::move(ours));
}

test_peer DataPlane::accept() {
  EXPECT_TRUE(readable(listening_.get(), deadline)) << "the server was not contacted";
  net::unique_fd server(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  send_at_once(server);
  return test_peer(std::move(server));
}

std::pair<test_peer, test_peer> DataPlane::establish(std::string_view database, transport over) {
  test_peer client = connect(over);
  const std::string packet = startup_packet(database);
  client.send(packet);
  test_peer server = accept();
  EXPECT_EQ(server.receive(packet.size()), packet);
  server.send(message('R', {"\0\0\0\0", 4}) + message('K', backend_key) + ready('I'));
  EXPECT_TRUE(client.receive_until_ready().ends_with(ready('I')));
  return {std::move(client), std::move(server)};
}

bool DataPlane::eventually(const std::function<bool()>& condition) const {
  const auto limit = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string message(char tag, std::string_view body) {
  std::string made(1, tag);
  protocol::append_int32(made, static_cast<std::uint32_t>(body.size() + 4));
  made.append(body);
  return made;
}

std::string query(std::string_view text) { return message('Q', std::string(text) + '\0'); }

std::string startup_packet(std::string_view database, std::string_view more_parameters) {
  std::string body;
  protocol::append_int32(body, 3U << 16U);
  body.append("user").push_back('\0');
  body.append("tester").push_back('\0');
  body.append("database").push_back('\0');
  body.append(database).push_back('\0');
  body.append(more_parameters).push_back('\0');
  std::string packet;
  protocol::append_int32(packet, static_cast<std::uint32_t>(body.size() + 4));
  return packet + body;
}

std::string cancel_packet(std::string_view key) {
  std::string packet;
  protocol::append_int32(packet, static_cast<std::uint32_t>(8 + key.size()));
  protocol::append_int32(packet, 80877102);
  return packet.append(key);
}

std::string ready(char status) { return message('Z', std::string(1, status)); }

std::string answer(char status) { return message('C', std::string("SELECT 1") + '\0') + ready(status); }

} // namespace ledgergate::test
