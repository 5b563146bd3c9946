// The server's offer of SASL mechanisms on its way to a client that does not see the TLS the server sees.
// Pure. PostgreSQL manual, "SASL Authentication": AuthenticationSASL is `R`, Int32 length, Int32 10,
// mechanism names as Strings in the server's order of preference, a zero byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ledgergate::session {

enum class offer_policy : std::uint8_t {
  /// The client's leg is clear, the server's is not: a client must not be offered channel binding there, so
  /// mechanisms that end in `-PLUS` are cut out.
  cut_binding,
  /// TLS on both legs with different certificates: a client that binds would fail with words that nobody
  /// understands, so the offer itself is refused.
  refuse_binding,
};

/// Lives until the offer, or whatever comes in its place, has passed.
class sasl_offer {
 public:
  explicit sasl_offer(offer_policy policy) : policy_(policy) {}

  /// Takes the server's next bytes and appends what is to be relayed to `out`. True: that was the offer, or
  /// there will be none; everything behind it is relayed as it is.
  bool pass(std::string_view bytes, std::string& out);
  bool refused() const { return refused_; }

 private:
  bool pass_message(std::string_view message, std::string& out);

  offer_policy policy_;
  bool refused_ = false;
  std::string held_; ///< the beginning of a message
};

} // namespace ledgergate::session
