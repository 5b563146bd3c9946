#include "proxy/admin/request_rates.hpp"

#include <algorithm>

namespace ledgergate::admin {

namespace {

/// "127.0.0.1:50412" and "unix pid 811 uid 0" without what changes from connection to connection.
std::string who(std::string_view peer) {
  if (peer.starts_with("unix")) return std::string(peer.substr(std::min(peer.find(" uid "), peer.size())));
  return std::string(peer.substr(0, peer.rfind(':')));
}

} // namespace

double request_rates::tokens_of(const bucket& each, time_point now) const {
  const double seconds = std::chrono::duration<double>(now - each.filled_at).count();
  return std::min(limit_.burst, each.tokens + seconds * limit_.per_second);
}

bool request_rates::admit(std::string_view peer, time_point now) {
  if (buckets_.size() >= limit_.peers) forget_some(now);
  bucket& mine = buckets_.try_emplace(who(peer), bucket{limit_.burst, now}).first->second;
  mine.tokens = tokens_of(mine, now);
  mine.filled_at = now;
  if (mine.tokens < 1) return false;
  mine.tokens -= 1;
  return true;
}

/// Those that are full lose nothing; when nobody is, those that have been quiet for longest go.
void request_rates::forget_some(time_point now) {
  std::erase_if(buckets_, [&](const auto& entry) { return tokens_of(entry.second, now) >= limit_.burst; });
  while (buckets_.size() >= limit_.peers) {
    buckets_.erase(
        std::min_element(buckets_.begin(), buckets_.end(), [](const auto& left, const auto& right) {
          return left.second.filled_at < right.second.filled_at;
        }));
  }
}

} // namespace ledgergate::admin
