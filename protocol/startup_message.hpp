// The first packet of a connection (PostgreSQL manual, "Message Formats": StartupMessage, SSLRequest,
// GSSENCRequest, CancelRequest): Int32 length that counts itself, Int32 code, then what the code asks for. No
// type byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ledgergate::protocol {

/// PostgreSQL refuses start-up packets outside these lengths (src/backend/postmaster,
/// MAX_STARTUP_PACKET_LENGTH).
inline constexpr std::size_t min_startup_bytes = 8;
inline constexpr std::size_t max_startup_bytes = 10000;

inline constexpr std::uint32_t ssl_request_code = 80877103;
inline constexpr std::uint32_t gss_request_code = 80877104;
inline constexpr std::uint32_t cancel_request_code = 80877102;

/// The length a first packet announces, once four bytes are there; nothing when it is out of range.
std::optional<std::size_t> startup_packet_length(std::string_view at_least_four_bytes);

struct startup_packet {
  enum class kind { ssl_request, gss_request, cancel_request, startup, malformed };
  kind what = kind::malformed;
  std::uint32_t version =
      0;                 ///< startup: major in the high 16 bits. Every version is relayed: the server answers
  std::string_view user; ///< startup: empty when not given (the server refuses that)
  std::string_view database;    ///< startup: the user's name when not given, as the server does
  std::string_view replication; ///< startup: value of `replication`, empty when not given
  std::string_view application; ///< startup: application_name, empty when not given
  std::uint32_t cancel_process_id = 0;
  std::string_view cancel_key; ///< cancel_request: 4 bytes in protocol 3.0, up to 256 in 3.2
};

/// Decodes a whole first packet. Parameters are a list of String pairs ended by a NUL; of repeated names the
/// last one counts, as on the server. Parameters of versions that are not 3.x are not looked at: they are
/// relayed, never gated as they cannot log in.
startup_packet decode_startup_packet(std::string_view packet);

} // namespace ledgergate::protocol
