#include "proxy/app/application.hpp"

#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <thread>
#include <utility>

#include "config/build_information.hpp"
#include "config/names.hpp"
#include "protocol/error_response.hpp"
#include "proxy/admin/api.hpp"
#include "proxy/admin/http_server.hpp"
#include "proxy/admin/observe_api.hpp"
#include "proxy/admin/page_api.hpp"
#include "proxy/app/catalog_view.hpp"
#include "proxy/app/operator_backend.hpp"
#include "proxy/app/reload.hpp"
#include "proxy/app/service_manager.hpp"
#include "proxy/app/shutdown.hpp"
#include "proxy/app/upstream_probe.hpp"
#include "proxy/net/descriptor_limit.hpp"
#include "proxy/net/listener.hpp"
#include "proxy/session/data_plane.hpp"

namespace ledgergate::app {

namespace {

/// Descriptors for everything but sessions: listeners, event loops, admin and control connections, cancel
/// requests, the log.
constexpr std::size_t reserved_descriptors = 48;

net::place to_place(const config::endpoint& where) { return {where.host, where.port, where.unix_path}; }

std::vector<net::place> to_places(const std::vector<config::endpoint>& all) {
  std::vector<net::place> places;
  for (const config::endpoint& each : all)
    places.push_back(to_place(each));
  return places;
}

/// limits.max_clients, or less when the descriptors do not suffice for two sockets per session.
std::size_t usable_clients(std::size_t wanted, std::size_t descriptors) {
  const std::size_t for_sessions =
      descriptors > reserved_descriptors + 2 ? descriptors - reserved_descriptors : 2;
  return std::min(wanted, for_sessions / 2);
}

unsigned thread_count(const config::limit_settings& limits) {
  return limits.threads.value_or(std::max(std::thread::hardware_concurrency(), 1U));
}

/// What the end may take beyond drain.timeout: sessions cut off, a transition that holds the gate.
constexpr std::chrono::seconds shutdown_slack{15};

/// A name that is not found in time must leave time to connect to the other hosts.
std::chrono::milliseconds lookup_patience(const config::upstream_settings& upstream) {
  return upstream.connect_timeout /
         static_cast<std::int64_t>(std::max<std::size_t>(upstream.hosts.size(), 1));
}

/// A client that comes when there is no descriptor left for it.
void turn_away(const net::unique_fd& client) {
  const std::string words =
      protocol::make_error_response("FATAL", "53300", "sorry, too many clients already");
  ::send(client.get(), words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace

struct application::impl {
  impl(config::settings given, std::string file, std::shared_ptr<const tls::context_set> shown,
       gate::rule_switch kept, catalog::link_switch links)
      : settings(std::make_shared<const config::settings>(std::move(given))),
        descriptors(net::raise_descriptor_limit()),
        max_clients(usable_clients(settings->limits.max_clients, descriptors)),
        resolver(io, to_places(settings->upstream.hosts), lookup_patience(settings->upstream)),
        registry(max_clients), certificates(std::move(shown)), control(io, settings, links),
        catalog(settings, kept, control, metrics, rules_publisher()),
        services{settings,    catalog.rules(), resolver,         registry,      cancels,
                 session_log, row_reader(),    catalog_reader(), &certificates, &observed},
        data_plane(services, metrics, thread_count(settings->limits)),
        probe(io, resolver, registry, upstream_doubt()), ending(io, settings->drain, steps()),
        reload(std::move(file), settings, certificates,
               [this](const std::shared_ptr<const config::settings>& changed,
                      std::function<void()> in_force) { use(changed, std::move(in_force)); }),
        backend(backend_parts()), live(io.get_executor(), backend),
        router(backend, admin::token_file(settings->admin.token_file), all_routes(),
               admin::token_file(settings->admin.viewer_token_file)),
        http(io.get_executor(),
             [this](const admin::http_request& request, const std::string& peer, admin::respond answer) {
               router.handle(request, peer, std::move(answer));
             }),
        signals(io, SIGTERM, SIGINT, SIGHUP), manager(io, read_service_environment(), thread_asker()) {
    http.use_tls([this] { return certificates.current()->admin; });
    metrics.set_clients([this] { return registry.figures(); });
    control.on_change(
        [this](const transition::transition_record& record) { backend.on_transition_change(record); });
  }

  boost::asio::io_context io{1};
  std::shared_ptr<const config::settings> settings; ///< in force
  const std::size_t descriptors;
  std::size_t max_clients;
  net::name_resolver resolver;
  session::session_registry registry;
  session::cancel_directory cancels;
  session::session_log session_log;
  tls::context_store certificates;
  observe::metrics metrics;
  observe::touch_report observed;
  control::control_service control;
  catalog_view catalog;
  const session::services services;
  session::data_plane data_plane;
  upstream_probe probe;
  shutdown ending;
  admin::transition_feeds feeds;
  reloader reload;
  operator_backend backend;
  admin::live_feed live;
  admin::router router;
  admin::http_server http;
  boost::asio::signal_set signals;
  service_manager manager;
  std::vector<std::unique_ptr<net::listener>> listeners;
  bool draining = false; ///< asked for through the admin port

  /// Workers ask from their threads; the control plane lives on the main one.
  std::function<void(session::control_row_handler)> row_reader() {
    return [this](session::control_row_handler answer) {
      boost::asio::post(io, [this, answer = std::move(answer)] {
        control.read_control_row([answer](const control::control_row_answer& row) { answer(row.xmin); });
      });
    };
  }

  std::function<void(session::catalog_handler)> catalog_reader() {
    return [this](session::catalog_handler answer) {
      boost::asio::post(io, [this, answer = std::move(answer)] { catalog.refresh(answer); });
    };
  }

  catalog_view::publisher rules_publisher() {
    return [this](const std::shared_ptr<const gate::gate_rules>& rules, std::function<void()> in_force) {
      data_plane.publish(
          rules, [this, in_force = std::move(in_force)] { boost::asio::post(io, std::move(in_force)); });
    };
  }

  /// The workers answer on their threads, and the control plane's turn comes with the main one's.
  std::function<void(std::function<void()>)> thread_asker() {
    return [this](std::function<void()> answered) {
      data_plane.list_sessions(
          [answered = std::move(answered)](const std::vector<session::session_info>&) { answered(); });
    };
  }

  /// While no client comes, a control connection that is down is the only sign of a server that went away.
  std::function<bool()> upstream_doubt() {
    return [this] { return settings->gate.mode != config::gate_mode::off && !control.status().connected; };
  }

  std::function<admin::observation()> observation_source() {
    return [this, since = std::chrono::system_clock::now()] {
      return admin::observation{settings->gate.mode, since, observed.get()};
    };
  }

  std::vector<admin::route> all_routes() {
    std::vector<admin::route> routes = admin::api_routes(backend, feeds);
    for (admin::route& each : admin::catalog_routes(catalog))
      routes.push_back(std::move(each));
    for (admin::route& each : admin::observe_routes(observation_source()))
      routes.push_back(std::move(each));
    for (admin::route& each : admin::page_routes(live))
      routes.push_back(std::move(each));
    return routes;
  }

  operator_backend::parts backend_parts() {
    return {settings,
            control,
            registry,
            cancels,
            [this](auto handler) {
              data_plane.list_sessions([this, handler](std::vector<session::session_info> found) {
                boost::asio::post(
                    io, [handler, found = std::move(found)]() mutable { handler(std::move(found)); });
              });
            },
            [this] { return drain(); },
            [this](const std::string& who, reloader::answer told) { reload.reload(who, std::move(told)); },
            metrics,
            feeds,
            max_clients,
            [this] { return probe.known(); },
            [this] { return draining || ending.requested(); },
            [this] { live.transition_changed(); }};
  }

  /// Clients end as they become idle, new ones are not taken; the sidecar stays, so that transitions can
  /// still be asked for, until it is told to end.
  bool drain() {
    if (draining || ending.requested()) return false;
    draining = true;
    for (const auto& each : listeners)
      each->stop();
    data_plane.drain();
    observe::log(config::log_level::info,
                 "draining: " + std::to_string(data_plane.connections()) + " connections");
    return true;
  }

  /// Puts reloaded settings in force. What runs goes on: a transition by those it began with.
  void use(const std::shared_ptr<const config::settings>& changed, std::function<void()> in_force) {
    settings = changed;
    observe::set_up_log(settings->log);
    max_clients = usable_clients(settings->limits.max_clients, descriptors);
    warn_of_descriptors();
    registry.set_max_clients(max_clients);
    data_plane.use_patience(session::patience_of(*settings));
    ending.set_drain(settings->drain);
    backend.use(settings, max_clients);
    catalog.reload(settings, std::move(in_force));
    control.reload(settings);
  }

  shutdown_steps steps() {
    shutdown_steps made;
    made.stop_listening = [this] {
      for (const auto& each : listeners)
        each->stop();
    };
    made.drain_sessions = [this] { data_plane.drain(); };
    made.stop_control = [this](std::function<void()> done) { control.stop(std::move(done)); };
    made.end_sessions = [this] { data_plane.end_sessions(); };
    made.connections = [this] { return data_plane.connections(); };
    made.finish = [this] {
      probe.stop();
      http.stop();
      data_plane.stop();
      io.stop();
    };
    return made;
  }

  void open_listeners(std::vector<std::string>& errors) {
    for (std::size_t index = 0; index < settings->listen.size(); ++index) {
      net::listening_result opened = net::open_listening_sockets(to_place(settings->listen[index].address));
      errors.insert(errors.end(), opened.errors.begin(), opened.errors.end());
      for (net::listening_socket& socket : opened.sockets) {
        listeners.push_back(std::make_unique<net::listener>(
            io, std::move(socket),
            [this, index](net::unique_fd client) { data_plane.add_client(std::move(client), index); },
            [](net::unique_fd client) { turn_away(client); }));
      }
    }
  }

  void await_signal() {
    signals.async_wait([this](const boost::system::error_code& ec, int signal) {
      if (ec) return;
      if (signal == SIGHUP) {
        reload.reload("SIGHUP", [](const admin::reload_outcome&) {});
      } else {
        manager.stopping(settings->drain.accept_for + settings->drain.timeout + shutdown_slack);
        ending.request();
      }
      await_signal();
    });
  }

  void warn_of_descriptors() const {
    if (max_clients < settings->limits.max_clients) {
      observe::log(config::log_level::warn, "the limit on open descriptors allows " +
                                                std::to_string(max_clients) +
                                                " clients, limits.max_clients asks for " +
                                                std::to_string(settings->limits.max_clients));
    }
  }

  void log_start() const {
    warn_of_descriptors();
    for (const auto& each : listeners) {
      observe::log(config::log_level::info, "listening on " + each->address().to_text());
    }
    observe::log(config::log_level::info, "ledgergate " + config::version_text() + " is running, " +
                                              std::to_string(data_plane.threads()) + " threads");
  }
};

application::application(config::settings settings, std::string file,
                         std::shared_ptr<const tls::context_set> certificates, gate::rule_switch rules,
                         catalog::link_switch links)
    : impl_(std::make_unique<impl>(std::move(settings), std::move(file), std::move(certificates), rules,
                                   links)) {}

application::~application() = default;

std::vector<std::string> application::open() {
  std::vector<std::string> errors;
  impl_->open_listeners(errors);
  const std::vector<std::string> admin_errors = impl_->http.listen(impl_->settings->admin.address);
  errors.insert(errors.end(), admin_errors.begin(), admin_errors.end());
  admin::token_file token(impl_->settings->admin.token_file);
  if (!token.problem().empty()) errors.push_back("admin." + token.problem());
  admin::token_file viewers(impl_->settings->admin.viewer_token_file);
  if (!viewers.problem().empty()) errors.push_back("admin.viewer_" + viewers.problem());
  return errors;
}

void application::run() {
  ::signal(SIGPIPE, SIG_IGN);
  impl_->data_plane.start();
  impl_->control.start();
  impl_->probe.start();
  for (const auto& each : impl_->listeners)
    each->start();
  impl_->await_signal();
  impl_->log_start();
  impl_->manager.ready("serving, gate.mode " + std::string(config::to_string(impl_->settings->gate.mode)));
  impl_->io.run();
  observe::log(config::log_level::info, "ended");
}

} // namespace ledgergate::app
