// Appends one message to a string and back-patches its length.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/wire.hpp"

namespace ledgergate::protocol {

class message_writer {
 public:
  /// Starts a message of type `tag` at the end of `out`, which must outlive this writer and may be appended
  /// to directly.
  message_writer(std::string& out, char tag) : out_(out), length_at_(out.size() + 1) {
    out_.push_back(tag);
    append_int32(out_, 0);
  }

  /// A String: the bytes and a NUL.
  void cstring(std::string_view text) {
    out_.append(text);
    out_.push_back('\0');
  }

  /// Writes the length; nothing may be added through this writer afterwards.
  void finish() {
    std::string length;
    append_int32(length, static_cast<std::uint32_t>(out_.size() - length_at_));
    out_.replace(length_at_, 4, length);
  }

 private:
  std::string& out_;
  std::size_t length_at_;
};

} // namespace ledgergate::protocol
