#include "proxy/app/reload.hpp"

#include <utility>

#include "config/live.hpp"
#include "config/load.hpp"
#include "proxy/app/certificates.hpp"
#include "proxy/observe/log.hpp"

namespace ledgergate::app {

namespace {

std::vector<std::string> texts_of(const std::vector<config::load_error>& errors) {
  std::vector<std::string> texts;
  for (const config::load_error& each : errors)
    texts.push_back(config::to_string(each));
  return texts;
}

} // namespace

reloader::reloader(std::string file, std::shared_ptr<const config::settings> settings,
                   tls::context_store& certificates, user use)
    : file_(std::move(file)), settings_(std::move(settings)), certificates_(certificates),
      use_(std::move(use)) {}

void reloader::reload(const std::string& who, answer told) {
  using kind = enum admin::reload_outcome::kind;
  observe::log(config::log_level::info, who + " asks to read " + file_ + " again");
  config::load_result loaded = config::load_file(file_);
  if (!loaded) return told(refused(kind::invalid, texts_of(loaded.error())));
  admin::reload_outcome outcome{kind::taken, file_, {}, {}};
  std::vector<std::string> problems;
  for (const config::changed_key& each : config::changed_keys(*settings_, *loaded)) {
    outcome.changed.emplace_back(each.key);
    if (!each.is_live()) problems.push_back(config::refusal(each));
  }
  if (!problems.empty()) return told(refused(kind::needs_restart, std::move(problems)));
  const auto unreadable = reload_tls(*loaded, file_, certificates_);
  if (!unreadable.empty()) return told(refused(kind::invalid, texts_of(unreadable)));
  settings_ = std::make_shared<const config::settings>(std::move(*loaded));
  std::string list;
  for (const std::string& key : outcome.changed)
    list += (list.empty() ? "" : ", ") + key;
  observe::log(config::log_level::info,
               "reloaded: " + (list.empty() ? "nothing is different" : "changed " + list));
  use_(settings_, [told = std::move(told), outcome = std::move(outcome)] { told(outcome); });
}

admin::reload_outcome reloader::refused(enum admin::reload_outcome::kind kind,
                                        std::vector<std::string> problems) const {
  for (const std::string& each : problems)
    observe::log(config::log_level::error, "not reloaded: " + each);
  observe::log(config::log_level::error, "not reloaded: everything stays as it was");
  return {kind, file_, {}, std::move(problems)};
}

} // namespace ledgergate::app
