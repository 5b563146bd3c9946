#include "protocol/error_response.hpp"

#include "protocol/message_writer.hpp"
#include "protocol/tags.hpp"

namespace ledgergate::protocol {

std::string make_error_response(std::string_view severity, std::string_view sqlstate,
                                std::string_view message, std::string_view hint) {
  std::string out;
  message_writer writer(out, backend::error_response);
  const auto field = [&](char type, std::string_view value) {
    out.push_back(type);
    writer.cstring(value);
  };
  field('S', severity);
  field('V', severity);
  field('C', sqlstate);
  field('M', message);
  if (!hint.empty()) field('H', hint);
  out.push_back('\0');
  writer.finish();
  return out;
}

std::string make_ready_for_query(char status) {
  std::string out;
  message_writer writer(out, backend::ready_for_query);
  out.push_back(status);
  writer.finish();
  return out;
}

} // namespace ledgergate::protocol
