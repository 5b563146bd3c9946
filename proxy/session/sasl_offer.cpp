#include "proxy/session/sasl_offer.hpp"

#include "protocol/reader.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::session {

namespace {

constexpr std::size_t header_bytes = 5;
/// No server says so much before its offer; one that does is relayed as it is.
constexpr std::size_t max_held_bytes = 64 * 1024;
constexpr std::uint32_t authentication_sasl = 10;
constexpr std::string_view binding_suffix = "-PLUS";

/// The offer without the mechanisms that bind channels; `found` says whether there was one.
std::string without_binding(std::string_view message, bool& found) {
  std::string names;
  protocol::reader in(message.substr(header_bytes + 4));
  for (;;) {
    const std::string_view name = in.cstring();
    if (!in.ok() || name.empty()) break;
    if (name.ends_with(binding_suffix)) {
      found = true;
    } else {
      names.append(name).push_back('\0');
    }
  }
  std::string offer("R");
  protocol::append_int32(offer, static_cast<std::uint32_t>(4 + 4 + names.size() + 1));
  protocol::append_int32(offer, authentication_sasl);
  offer.append(names).push_back('\0');
  return offer;
}

} // namespace

bool sasl_offer::pass(std::string_view bytes, std::string& out) {
  held_.append(bytes);
  for (;;) {
    if (held_.size() < header_bytes) return false;
    const std::size_t size = std::size_t{1} + protocol::load_int32(held_.data() + 1);
    if (size < header_bytes || size > max_held_bytes) break;
    if (held_.size() < size) return false;
    const bool last = pass_message(std::string_view(held_).substr(0, size), out);
    if (refused_) return false;
    held_.erase(0, size);
    if (last) break;
  }
  out.append(held_);
  return true;
}

/// True: no offer comes behind it.
bool sasl_offer::pass_message(std::string_view message, std::string& out) {
  const bool is_offer = message.front() == 'R' && message.size() >= header_bytes + 4 &&
                        protocol::load_int32(message.data() + header_bytes) == authentication_sasl;
  if (!is_offer) {
    out.append(message);
    // Only a notice or NegotiateProtocolVersion may come in front of it.
    return message.front() != 'N' && message.front() != 'v';
  }
  bool found = false;
  const std::string cut = without_binding(message, found);
  if (found && policy_ == offer_policy::refuse_binding) {
    refused_ = true;
    return true;
  }
  out.append(found ? cut : message);
  return true;
}

} // namespace ledgergate::session
