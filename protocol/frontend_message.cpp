#include "protocol/frontend_message.hpp"

#include "protocol/message_writer.hpp"
#include "protocol/reader.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::protocol {

std::optional<std::string_view> decode_query(std::string_view body) {
  reader in(body);
  const std::string_view text = in.cstring();
  if (!in.at_end()) return std::nullopt;
  return text;
}

std::optional<parse_message> decode_parse(std::string_view body) {
  reader in(body);
  parse_message message;
  message.statement = in.cstring();
  message.query = in.cstring();
  const std::size_t types = in.int16();
  in.skip(types * 4);
  if (!in.at_end()) return std::nullopt;
  message.types = body.substr(body.size() - types * 4);
  return message;
}

std::optional<bind_message> decode_bind(std::string_view body_front) {
  reader in(body_front);
  bind_message message;
  message.portal = in.cstring();
  message.statement = in.cstring();
  if (!in.ok()) return std::nullopt;
  return message;
}

std::optional<target_message> decode_target(std::string_view body) {
  reader in(body);
  target_message message;
  message.target = in.byte();
  message.name = in.cstring();
  if (!in.at_end() || (message.target != 'S' && message.target != 'P')) return std::nullopt;
  return message;
}

std::optional<std::string_view> decode_execute(std::string_view body) {
  reader in(body);
  const std::string_view portal = in.cstring();
  in.int32();
  if (!in.at_end()) return std::nullopt;
  return portal;
}

// FunctionCall: Int32 oid, Int16 formats, Int16[] format codes, Int16 arguments, (Int32 length, bytes)*,
// Int16 result format.
std::string make_function_call(std::uint32_t function_oid, std::int64_t argument) {
  std::string out;
  message_writer message(out, frontend::function_call);
  append_int32(out, function_oid);
  append_int16(out, 1);
  append_int16(out, 1);
  append_int16(out, 1);
  append_int32(out, 8);
  append_int64(out, argument);
  append_int16(out, 1);
  message.finish();
  return out;
}

std::string make_function_call(std::uint32_t function_oid, std::string_view argument) {
  std::string out;
  message_writer message(out, frontend::function_call);
  append_int32(out, function_oid);
  append_int16(out, 1);
  append_int16(out, 0);
  append_int16(out, 1);
  append_int32(out, static_cast<std::uint32_t>(argument.size()));
  out.append(argument);
  append_int16(out, 0);
  message.finish();
  return out;
}

std::string make_function_call(std::uint32_t function_oid) {
  std::string out;
  message_writer message(out, frontend::function_call);
  append_int32(out, function_oid);
  append_int16(out, 0);
  append_int16(out, 0);
  append_int16(out, 1);
  message.finish();
  return out;
}

void append_query(std::string& out, std::string_view query) {
  message_writer message(out, frontend::query);
  message.cstring(query);
  message.finish();
}

void append_parse(std::string& out, std::string_view statement, std::string_view query) {
  message_writer message(out, frontend::parse);
  message.cstring(statement);
  message.cstring(query);
  append_int16(out, 0);
  message.finish();
}

void append_bind(std::string& out, std::string_view portal, std::string_view statement) {
  message_writer message(out, frontend::bind);
  message.cstring(portal);
  message.cstring(statement);
  append_int16(out, 0);
  append_int16(out, 0);
  append_int16(out, 0);
  message.finish();
}

void append_describe(std::string& out, char target, std::string_view name) {
  message_writer message(out, frontend::describe);
  out.push_back(target);
  message.cstring(name);
  message.finish();
}

void append_execute(std::string& out, std::string_view portal) {
  message_writer message(out, frontend::execute);
  message.cstring(portal);
  append_int32(out, 0);
  message.finish();
}

void append_close(std::string& out, char target, std::string_view name) {
  message_writer message(out, frontend::close);
  out.push_back(target);
  message.cstring(name);
  message.finish();
}

void append_sync(std::string& out) {
  message_writer message(out, frontend::sync);
  message.finish();
}

void append_flush(std::string& out) {
  message_writer message(out, frontend::flush);
  message.finish();
}

} // namespace ledgergate::protocol
