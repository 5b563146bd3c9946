// The whole process: owns every part and wires them together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/catalog/link_kind.hpp"
#include "proxy/gate/rule_switch.hpp"
#include "proxy/tls/context_set.hpp"

namespace ledgergate::app {

class application {
 public:
  /// Raises the descriptor limit and builds every part. Throws std::system_error when the kernel refuses what
  /// every process may have (an event loop). `file` is what `settings` were read from, and what a reload
  /// reads again; `certificates` are what load_certificates() made of them. `rules` and `links` are for the
  /// tests: the product keeps all of them.
  application(config::settings settings, std::string file,
              std::shared_ptr<const tls::context_set> certificates, gate::rule_switch rules = {},
              catalog::link_switch links = {});
  ~application();
  application(const application&) = delete;
  application& operator=(const application&) = delete;

  /// Opens every port. All that went wrong, one sentence each; empty when it may run().
  std::vector<std::string> open();
  /// Until SIGTERM or SIGINT, and the drain behind it. SIGHUP reloads.
  void run();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace ledgergate::app
