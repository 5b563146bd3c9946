// A reload: the file is read again, and either all of it counts or nothing does.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/settings.hpp"
#include "proxy/admin/admin_backend.hpp"
#include "proxy/tls/context_set.hpp"

namespace ledgergate::app {

/// Main thread.
class reloader {
 public:
  using answer = std::function<void(admin::reload_outcome)>;
  /// Puts settings in force that change no key that needs a restart; calls `in_force`, on the main thread,
  /// when every session goes by them.
  using user = std::function<void(const std::shared_ptr<const config::settings>& settings,
                                  std::function<void()> in_force)>;

  /// `settings` are those of the start, read from `file`. The certificates and keys they name are read again
  /// with them, and count for the connections that are made from then on.
  reloader(std::string file, std::shared_ptr<const config::settings> settings,
           tls::context_store& certificates, user use);

  /// `who` asks, for the log. `told` is called once, now or later. Blocks on the file system for a few small
  /// files.
  void reload(const std::string& who, answer told);

 private:
  admin::reload_outcome refused(enum admin::reload_outcome::kind kind,
                                std::vector<std::string> problems) const;

  const std::string file_;
  std::shared_ptr<const config::settings> settings_; ///< in force
  tls::context_store& certificates_;
  user use_;
};

} // namespace ledgergate::app
