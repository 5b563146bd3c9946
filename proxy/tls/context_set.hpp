// All contexts, made from one configuration, and the place where a reload replaces them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "config/settings.hpp"
#include "proxy/tls/context.hpp"

namespace ledgergate::tls {

/// Immutable. `listen` follows settings.listen; the context of a listener or of the upstream whose mode is
/// off is null.
struct context_set {
  struct listener {
    config::server_tls_mode mode = config::server_tls_mode::off;
    config::channel_binding_policy channel_binding = config::channel_binding_policy::same_certificate;
    context with;
  };
  std::vector<listener> listen;
  config::upstream_tls_mode upstream_mode = config::upstream_tls_mode::off;
  context upstream;
  context admin; ///< of the operators' port; null when that speaks no TLS
};

using context_set_result =
    boost::system::result<std::shared_ptr<const context_set>, std::vector<setup_error>>;

/// Reads every file that the settings name, and refuses layouts in which SCRAM's channel binding cannot hold
/// (see the README). Blocks on the file system.
[[nodiscard]] context_set_result make_context_set(const config::settings& settings);

/// The set in force. Thread-safe.
class context_store {
 public:
  explicit context_store(std::shared_ptr<const context_set> first) : current_(std::move(first)) {}

  std::shared_ptr<const context_set> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  /// For connections that are made from now on.
  void replace(std::shared_ptr<const context_set> next) {
    const std::lock_guard lock(mutex_);
    current_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const context_set> current_;
};

} // namespace ledgergate::tls
