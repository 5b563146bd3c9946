#include "proxy/control/control_connection.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/control/pg_result.hpp"
#include "proxy/observe/log.hpp"

namespace ledgergate::control {

namespace {

using transition::server_error;
using milliseconds = std::chrono::milliseconds;

constexpr milliseconds shortest_pause{50};
constexpr milliseconds longest_pause{2000};

server_error connection_error(std::string message) {
  while (message.ends_with('\n'))
    message.pop_back();
  return {"08006", std::move(message), {}, {}};
}

} // namespace

control_connection::control_connection(boost::asio::io_context& io, options how, hooks told)
    : io_(io), options_(std::move(how)), hooks_(std::move(told)), resolver_(io), timer_(io), socket_(io),
      random_(std::random_device{}()) {}

control_connection::~control_connection() { close(); }

void control_connection::start() {
  started_ = true;
  connect();
}

void control_connection::stop() {
  started_ = false;
  hooks_ = {};
  handler_ = nullptr;
  close();
}

void control_connection::connect() {
  ++generation_;
  fatal_.reset();
  auto parsed = connection_parameters::parse(options_.dsn, options_.application_name);
  if (!parsed) {
    lost(connection_error(parsed.error().message));
    return;
  }
  parameters_ = std::move(*parsed);
  timer_.expires_after(parameters_->connect_timeout());
  timer_.async_wait(guarded([this](const boost::system::error_code& ec) {
    if (!ec) lost(connection_error("no connection within the connect timeout"));
  }));
  addresses_.assign(parameters_->hosts().size(), {});
  look_up(0);
}

/// Looks up the hosts one after another: libpq itself would block.
void control_connection::look_up(std::size_t index) {
  while (index < addresses_.size() && !parameters_->hosts()[index].needs_lookup())
    ++index;
  if (index == addresses_.size()) {
    begin_connect();
    return;
  }
  auto found = guarded([this, index](const boost::system::error_code& ec,
                                     const boost::asio::ip::tcp::resolver::results_type& results) {
    if (!ec) {
      for (const auto& entry : results)
        addresses_[index].push_back(entry.endpoint().address().to_string());
    } else {
      fatal_ = connection_error("could not look up host " + parameters_->hosts()[index].name + ": " +
                                ec.message());
    }
    look_up(index + 1);
  });
  resolver_.async_resolve(parameters_->hosts()[index].name, "", std::move(found));
}

void control_connection::begin_connect() {
  const auto& hosts = parameters_->hosts();
  bool reachable = hosts.empty();
  for (std::size_t i = 0; i < hosts.size(); ++i)
    reachable |= !hosts[i].needs_lookup() || !addresses_[i].empty();
  if (!reachable) {
    lost(fatal_.value_or(connection_error("no address for any host of control.dsn")));
    return;
  }
  fatal_.reset();
  const auto values = parameters_->with_addresses(addresses_);
  std::vector<const char*> keywords, texts;
  for (const auto& [keyword, value] : values) {
    keywords.push_back(keyword.c_str());
    texts.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  texts.push_back(nullptr);
  connection_.reset(PQconnectStartParams(keywords.data(), texts.data(), 0));
  if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) {
    lost(connection_error(connection_ ? PQerrorMessage(connection_.get()) : "out of memory"));
    return;
  }
  PQsetNoticeReceiver(connection_.get(), &control_connection::on_notice, this);
  wait_connect(PGRES_POLLING_WRITING); // manual: as if PQconnectPoll had last returned this
}

/// libpq may open another socket at every step, under the same number even: the socket is handed to Asio for
/// one wait only.
void control_connection::wait_connect(PostgresPollingStatusType next) {
  socket_.assign(PQsocket(connection_.get()));
  const auto what = next == PGRES_POLLING_READING ? boost::asio::posix::stream_descriptor::wait_read
                                                  : boost::asio::posix::stream_descriptor::wait_write;
  socket_.async_wait(what, guarded([this](const boost::system::error_code&) {
                       socket_.release();
                       advance_connect();
                     }));
}

void control_connection::advance_connect() {
  const auto next = PQconnectPoll(connection_.get());
  switch (next) {
  case PGRES_POLLING_READING:
  case PGRES_POLLING_WRITING: wait_connect(next); break;
  case PGRES_POLLING_OK: connected(); break;
  case PGRES_POLLING_FAILED:
  case PGRES_POLLING_ACTIVE: lost(connection_error(PQerrorMessage(connection_.get()))); break;
  }
}

void control_connection::connected() {
  PQsetnonblocking(connection_.get(), 1);
  socket_.assign(PQsocket(connection_.get()));
  wait_readable();
  set_up();
}

void control_connection::set_up() {
  send(setup_text(), [this](std::optional<transition::sql_result> result) {
    if (!result) return;
    if (result->error) {
      lost(*result->error);
      return;
    }
    auto facts = read_facts(*result, options_.database);
    if (!facts) {
      lost({"08006", facts.error().message, {}, {}});
      return;
    }
    facts_ = std::move(*facts);
    if (!options_.shorten_deadlock_timeout) {
      became_ready();
      return;
    }
    send(deadlock_timeout_text(facts_->server_version), [this](std::optional<transition::sql_result> answer) {
      if (!answer) return;
      facts_->deadlock_timeout_shortened =
          !answer->error && !answer->sets.empty() && !answer->sets[0].rows.empty();
      became_ready();
    });
  });
}

void control_connection::became_ready() {
  timer_.cancel();
  failure_count_ = 0;
  ready_ = true;
  observe::log(config::log_level::info, "control connection (" + options_.purpose + ") to database " +
                                            facts_->database + " is up, backend " +
                                            std::to_string(facts_->backend_pid));
  const auto told = hooks_.ready;
  if (told) told(*facts_);
}

void control_connection::run(const std::string& text, result_handler handler) {
  send(text, std::move(handler));
}

void control_connection::send(const std::string& text, result_handler handler) {
  handler_ = std::move(handler);
  result_ = {};
  if (PQsendQuery(connection_.get(), text.c_str()) == 0) {
    lost(connection_error(PQerrorMessage(connection_.get())));
    return;
  }
  flush();
}

void control_connection::flush() {
  const int left = PQflush(connection_.get());
  if (left < 0) {
    lost(connection_error(PQerrorMessage(connection_.get())));
  } else if (left > 0 && !writing_) {
    writing_ = true;
    socket_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                       guarded([this](const boost::system::error_code& ec) {
                         writing_ = false;
                         if (!ec) flush();
                       }));
  }
}

/// Always armed: the end of an idle session must be noticed as well.
void control_connection::wait_readable() {
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     guarded([this](const boost::system::error_code& ec) {
                       if (!ec) readable();
                     }));
}

void control_connection::readable() {
  if (PQconsumeInput(connection_.get()) == 0) {
    // What the server said before it closed may be there already.
    const std::string message = PQerrorMessage(connection_.get());
    while (handler_ && PQisBusy(connection_.get()) == 0) {
      PGresult* result = PQgetResult(connection_.get());
      if (result == nullptr) break;
      remember_if_fatal(result);
      PQclear(result);
    }
    lost(connection_error(message));
    return;
  }
  const auto generation = generation_;
  wait_readable();
  collect();
  if (generation != generation_) return;
  while (PGnotify* notification = PQnotifies(connection_.get()))
    PQfreemem(notification);
}

void control_connection::collect() {
  const auto generation = generation_;
  while (handler_ && PQisBusy(connection_.get()) == 0) {
    PGresult* result = PQgetResult(connection_.get());
    if (result == nullptr) {
      // The handler may send the next text, whose answer is not there yet.
      finish_text();
      return;
    }
    take(result);
    if (generation != generation_) return;
    if (PQstatus(connection_.get()) == CONNECTION_BAD) {
      lost(connection_error(PQerrorMessage(connection_.get())));
      return;
    }
  }
}

bool control_connection::remember_if_fatal(const PGresult* result) {
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  const std::string level = severity == nullptr ? "" : severity;
  if (level != "FATAL" && level != "PANIC") return false;
  fatal_ = read_error(result);
  return true;
}

void control_connection::take(PGresult* result) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> owned(result, &PQclear);
  switch (PQresultStatus(result)) {
  case PGRES_COMMAND_OK:
  case PGRES_TUPLES_OK: result_.sets.push_back(read_set(result, options_.most_rows)); break;
  case PGRES_FATAL_ERROR:
  case PGRES_BAD_RESPONSE:
    if (!remember_if_fatal(result)) result_.error = read_error(result);
    break;
  case PGRES_COPY_IN:
  case PGRES_COPY_OUT:
  case PGRES_COPY_BOTH:
    lost({"0A000", "a configured statement began a COPY, which cannot be served here", {}, {}});
    break;
  case PGRES_EMPTY_QUERY:
  case PGRES_NONFATAL_ERROR:
  case PGRES_SINGLE_TUPLE:
  case PGRES_PIPELINE_SYNC:
  case PGRES_PIPELINE_ABORTED: break;
  }
}

void control_connection::finish_text() {
  result_.status = read_status(connection_.get());
  const auto handler = std::move(handler_);
  handler_ = nullptr;
  const auto result = std::move(result_);
  handler(result);
}

void control_connection::drop(const std::string& why) {
  if (connection_) lost(connection_error(why));
}

void control_connection::lost(server_error error) {
  // The server's own last word is worth more than what the socket says.
  if (fatal_) error = *fatal_;
  const bool was_ready = ready_;
  const auto handler = std::move(handler_);
  handler_ = nullptr;
  result_ = {};
  close();
  if (was_ready || failure_count_ == 0) {
    observe::log(config::log_level::warn, "control connection (" + options_.purpose +
                                              ") is down: " + error.message + " (" + error.sqlstate + ")");
  }
  if (started_) connect_later();
  const auto self = weak_from_this().lock(); // a handler may let go of the last owner
  const auto told = hooks_.lost;
  if (handler) handler(std::nullopt);
  if (told && started_) told(error);
}

void control_connection::close() {
  ++generation_;
  ready_ = writing_ = false;
  facts_.reset();
  resolver_.cancel();
  timer_.cancel();
  // The descriptor is libpq's to close.
  if (socket_.is_open()) socket_.release();
  connection_.reset();
}

void control_connection::connect_later() {
  const auto pause = std::min(longest_pause, shortest_pause * (1 << std::min(failure_count_, 6U)));
  ++failure_count_;
  std::uniform_real_distribution<double> spread(0.5, 1.5);
  timer_.expires_after(
      milliseconds(static_cast<milliseconds::rep>(static_cast<double>(pause.count()) * spread(random_))));
  timer_.async_wait(guarded([this](const boost::system::error_code& ec) {
    if (!ec) connect();
  }));
}

/// An error that comes while nothing runs is a notice to libpq, a fatal one included.
void control_connection::on_notice(void* self, const PGresult* notice) {
  auto& connection = *static_cast<control_connection*>(self);
  if (connection.remember_if_fatal(notice)) return;
  const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity != nullptr && std::string(severity) == "WARNING") {
    observe::log(config::log_level::warn, "control connection (" + connection.options_.purpose +
                                              "): the server warns: " + read_error(notice).message);
  }
}

} // namespace ledgergate::control
