// A bounds-checked cursor over one message body. The first read past the end makes it fail for good: reads
// after that return zero values, so a decoder reads everything and asks ok() once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/wire.hpp"

namespace ledgergate::protocol {

class reader {
 public:
  explicit reader(std::string_view body) : rest_(body) {}

  std::uint16_t int16() { return take(2) ? load_int16(taken_) : std::uint16_t{0}; }
  std::uint32_t int32() { return take(4) ? load_int32(taken_) : 0U; }
  char byte() { return take(1) ? *taken_ : '\0'; }

  /// A String: bytes up to, and without, the terminating NUL.
  std::string_view cstring() {
    const std::size_t end = ok_ ? rest_.find('\0') : std::string_view::npos;
    if (end == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip(std::size_t count) { take(count); }

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }
  std::string_view rest() const { return ok_ ? rest_ : std::string_view{}; }

 private:
  bool take(std::size_t count) {
    if (!ok_ || rest_.size() < count) {
      ok_ = false;
      return false;
    }
    taken_ = rest_.data();
    rest_.remove_prefix(count);
    return true;
  }

  std::string_view rest_;
  const char* taken_ = nullptr;
  bool ok_ = true;
};

} // namespace ledgergate::protocol
