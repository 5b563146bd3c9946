// How many requests a peer may make: a bucket of tokens for each, filled at a steady rate. Time is passed in.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ledgergate::admin {

struct rate_limit {
  double per_second = 500;
  double burst = 1000;
  /// Peers that are remembered. Beyond it the fullest buckets are forgotten, who then begin anew.
  std::size_t peers = 1024;
};

class request_rates {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit request_rates(rate_limit limit = {}) : limit_(limit) {}

  /// False: too many. `peer` as in request_handler; its port does not count.
  bool admit(std::string_view peer, time_point now);

 private:
  struct bucket {
    double tokens;
    time_point filled_at;
  };
  double tokens_of(const bucket& each, time_point now) const;
  void forget_some(time_point now);

  rate_limit limit_;
  std::unordered_map<std::string, bucket> buckets_;
};

} // namespace ledgergate::admin
