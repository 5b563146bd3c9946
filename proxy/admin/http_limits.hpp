// What one peer of the admin port may take from everybody else. The data plane has threads of its own; these
// limits keep the main thread and its descriptors free for the other operators.
#pragma once

#include <chrono>
#include <cstddef>

namespace ledgergate::admin {

struct http_limits {
  std::size_t header_bytes = 16 * 1024;
  std::size_t body_bytes = 64 * 1024;
  std::size_t connections = 64;
  /// From the first byte of a request to its last.
  std::chrono::milliseconds request_deadline{10'000};
  /// Between connecting, or the end of an answer, and the first byte of the next request.
  std::chrono::milliseconds idle_deadline{60'000};
  /// How long the backend may take before the client is told that its answer did not come.
  std::chrono::milliseconds backend_deadline{20'000};
  /// How long the client may take to read its answer.
  std::chrono::milliseconds write_deadline{10'000};
  /// A feed of events that has nothing to say says so this often.
  std::chrono::milliseconds event_silence{10'000};
  /// How long unread bytes of a refused request are swallowed, so that the client sees the refusal and not a
  /// reset.
  std::chrono::milliseconds linger_deadline{1'000};
};

} // namespace ledgergate::admin
