// Any bytes as the body of every backend message that is looked at, and as the start-up packet of a client.
// What a decoder returns lies inside the body; what the front of an error says, the whole of it says as well.
#include <algorithm>
#include <string_view>

#include "protocol/backend_message.hpp"
#include "protocol/error_response.hpp"
#include "protocol/startup_message.hpp"
#include "protocol/tags.hpp"
#include "proxy/gate/isolation.hpp"
#include "tests/fuzz/byte_source.hpp"
#include "tests/fuzz/require.hpp"

using namespace ledgergate;
using test::require;

namespace {

void check_errors(const test::exact_bytes& body) {
  for (const char field : {'S', 'V', 'C', 'M', 'D', 'H', 'P'}) {
    const std::string_view value = protocol::error_field(body.view(), field);
    require(body.holds(value), "a field lies inside the body");
    if (value.empty()) continue;
    const auto end = static_cast<std::size_t>(value.data() + value.size() - body.view().data());
    const std::string_view front = body.view().substr(0, std::min(end + 1, body.view().size()));
    require(protocol::error_field(front, field) == value, "the front is enough for a field that is in it");
  }
  const std::string_view code = protocol::error_field(body.view(), 'C');
  const std::string_view words = protocol::error_field(body.view(), 'M');
  if (code.empty() || words.empty()) return;
  const std::string built = protocol::make_error_response("ERROR", code, words, words);
  const std::string_view again = std::string_view(built).substr(protocol::header_bytes);
  require(protocol::error_field(again, 'C') == code, "SQLSTATE both ways");
  require(protocol::error_field(again, 'M') == words, "message both ways");
}

void check_startup(const test::exact_bytes& packet) {
  if (packet.view().size() < protocol::min_startup_bytes) return;
  const auto length = protocol::startup_packet_length(packet.view());
  if (!length) return;
  require(*length >= protocol::min_startup_bytes && *length <= protocol::max_startup_bytes,
          "an accepted length is in range");
  if (*length != packet.view().size()) return;
  const protocol::startup_packet decoded = protocol::decode_startup_packet(packet.view());
  for (const std::string_view text : {decoded.user, decoded.database, decoded.replication})
    require(packet.holds(text) && text.find('\0') == std::string_view::npos,
            "a parameter lies inside the packet");
  require(packet.holds(decoded.cancel_key), "a cancel key lies inside the packet");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const test::exact_bytes body(data, size);
  check_errors(body);
  check_startup(body);
  if (const auto status = protocol::decode_parameter_status(body.view()))
    require(body.holds(status->name) && body.holds(status->value), "a parameter lies inside the body");
  if (const auto tag = protocol::decode_command_complete(body.view()))
    require(body.holds(*tag), "a tag lies inside the body");
  if (const auto state = protocol::decode_ready_for_query(body.view()))
    require(protocol::make_ready_for_query(*state).substr(protocol::header_bytes) == body.view(),
            "ReadyForQuery both ways");
  (void)protocol::authentication_asks(body.view());
  if (const auto snapshot = gate::decode_snapshot(body.view())) {
    for (const std::uint64_t running : snapshot->in_progress)
      require(running < snapshot->xmin || !snapshot->sees(running), "a running transaction is not seen");
    require(!snapshot->sees(snapshot->xmax) || snapshot->xmax < snapshot->xmin, "xmax is not seen");
  }
  return 0;
}
