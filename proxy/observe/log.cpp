#include "proxy/observe/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string_view>
#include <utility>

#include "proxy/observe/json_line.hpp"

namespace ledgergate::observe {

namespace {

/// The message as the inside of a JSON string.
class escaped_message final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string escaped =
        json_escaped(std::string_view(message.payload.data(), message.payload.size()));
    out.append(escaped.data(), escaped.data() + escaped.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<escaped_message>();
  }
};

spdlog::level::level_enum to_spdlog(config::log_level level) {
  switch (level) {
  case config::log_level::trace: return spdlog::level::trace;
  case config::log_level::debug: return spdlog::level::debug;
  case config::log_level::info: return spdlog::level::info;
  case config::log_level::warn: return spdlog::level::warn;
  case config::log_level::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

} // namespace

void set_up_log(const config::log_settings& settings) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("ledgergate", std::move(sink));
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  if (settings.format == config::log_format::json) {
    formatter->add_flag<escaped_message>('*').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":"%*"})");
  } else {
    formatter->set_pattern("%Y-%m-%d %H:%M:%S.%e UTC %l: %v");
  }
  logger->set_formatter(std::move(formatter));
  logger->set_level(to_spdlog(settings.level));
  spdlog::set_default_logger(std::move(logger));
}

bool logs(config::log_level level) { return spdlog::should_log(to_spdlog(level)); }

void log(config::log_level level, const std::string& line) { spdlog::log(to_spdlog(level), "{}", line); }

log_throttle::verdict log_throttle::ask(clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (written_ == 0 || now - window_began_ >= window_) {
    window_began_ = now;
    written_ = 0;
  }
  if (written_ >= lines_) {
    ++left_out_;
    return {};
  }
  ++written_;
  return {true, std::exchange(left_out_, 0)};
}

void log_throttle::log(config::log_level level, const std::string& line) {
  if (!logs(level)) return;
  const verdict said = ask(clock::now());
  if (!said.allowed) return;
  const std::string more =
      said.left_out == 0 ? "" : " (" + std::to_string(said.left_out) + " lines like this were left out)";
  observe::log(level, line + more);
}

} // namespace ledgergate::observe
