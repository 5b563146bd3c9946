// Any bytes as the body of every frontend message. What a decoder returns lies inside the body, holds no NUL,
// and is what it returns again for the message built from it.
#include <string>
#include <string_view>

#include "protocol/frontend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "tests/fuzz/byte_source.hpp"
#include "tests/fuzz/require.hpp"

using namespace ledgergate;
using test::require;

namespace {

/// The body of the one message in `bytes`; its header must be right.
std::string_view body_of(const std::string& bytes) {
  require(bytes.size() >= protocol::header_bytes, "a built message has a header");
  require(protocol::load_int32(bytes.data() + 1) + 1 == bytes.size(), "a built message says its length");
  return std::string_view(bytes).substr(protocol::header_bytes);
}

void check_text(const test::exact_bytes& body, std::string_view text) {
  require(body.holds(text), "a text lies inside the body");
  require(text.find('\0') == std::string_view::npos, "a text holds no NUL");
}

void check_parse_and_bind(const test::exact_bytes& body) {
  if (const auto parse = protocol::decode_parse(body.view())) {
    check_text(body, parse->statement);
    check_text(body, parse->query);
    std::string again;
    protocol::append_parse(again, parse->statement, parse->query);
    const auto same = protocol::decode_parse(body_of(again));
    require(same && same->statement == parse->statement && same->query == parse->query, "Parse both ways");
  }
  if (const auto bind = protocol::decode_bind(body.view())) {
    check_text(body, bind->portal);
    check_text(body, bind->statement);
    std::string again;
    protocol::append_bind(again, bind->portal, bind->statement);
    const auto same = protocol::decode_bind(body_of(again));
    require(same && same->portal == bind->portal && same->statement == bind->statement, "Bind both ways");
  }
}

void check_others(const test::exact_bytes& body) {
  if (const auto query = protocol::decode_query(body.view())) {
    check_text(body, *query);
    std::string again;
    protocol::append_query(again, *query);
    require(protocol::decode_query(body_of(again)) == query, "Query both ways");
  }
  if (const auto target = protocol::decode_target(body.view())) {
    check_text(body, target->name);
    std::string again;
    protocol::append_close(again, target->target, target->name);
    const auto same = protocol::decode_target(body_of(again));
    require(same && same->target == target->target && same->name == target->name, "Close both ways");
  }
  if (const auto portal = protocol::decode_execute(body.view())) {
    check_text(body, *portal);
    std::string again;
    protocol::append_execute(again, *portal);
    require(protocol::decode_execute(body_of(again)) == portal, "Execute both ways");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const test::exact_bytes body(data, size);
  check_parse_and_bind(body);
  check_others(body);
  return 0;
}
