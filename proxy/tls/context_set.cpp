#include "proxy/tls/context_set.hpp"

#include <string>
#include <utility>

#include "proxy/tls/channel_binding.hpp"

namespace ledgergate::tls {

context_set_result make_context_set(const config::settings& settings) {
  auto made = std::make_shared<context_set>();
  std::vector<setup_error> errors;
  const auto take = [&errors](context_result result) {
    if (result) return std::move(*result);
    const std::vector<setup_error> found = result.error();
    errors.insert(errors.end(), found.begin(), found.end());
    return context();
  };
  for (std::size_t i = 0; i < settings.listen.size(); ++i) {
    const config::server_tls_settings& tls = settings.listen[i].tls;
    context_set::listener one{tls.mode, tls.channel_binding, {}};
    const std::string path = "listen[" + std::to_string(i) + "].tls";
    if (tls.mode != config::server_tls_mode::off)
      one.with = take(make_server_context(tls, path, postgres_profile()));
    made->listen.push_back(std::move(one));
  }
  made->upstream_mode = settings.upstream.tls.mode;
  if (made->upstream_mode != config::upstream_tls_mode::off)
    made->upstream = take(make_upstream_context(settings.upstream.tls, "upstream.tls"));
  if (settings.admin.tls.mode != config::server_tls_mode::off)
    made->admin = take(make_server_context(settings.admin.tls, "admin.tls", http_profile()));
  if (!errors.empty()) return errors;
  for (std::size_t i = 0; i < settings.listen.size(); ++i) {
    const std::string problem =
        binding_problem(settings.listen[i].tls, made->listen[i].with, settings.upstream, made->upstream);
    if (problem.empty()) continue;
    errors.push_back({"listen[" + std::to_string(i) + "].tls.cert", problem});
  }
  if (!errors.empty()) return errors;
  return std::shared_ptr<const context_set>(std::move(made));
}

} // namespace ledgergate::tls
