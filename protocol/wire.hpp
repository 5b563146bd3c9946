// The manual's primitives (PostgreSQL manual, "Message Data Types"): Int16 and Int32 in network byte order.
#pragma once

#include <cstdint>
#include <string>

namespace ledgergate::protocol {

inline std::uint32_t load_int32(const char* at) {
  const auto byte = [at](int i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(at[i])); };
  return (byte(0) << 24U) | (byte(1) << 16U) | (byte(2) << 8U) | byte(3);
}

inline std::uint16_t load_int16(const char* at) {
  const auto byte = [at](int i) { return static_cast<unsigned>(static_cast<unsigned char>(at[i])); };
  return static_cast<std::uint16_t>((byte(0) << 8U) | byte(1));
}

inline void append_int32(std::string& out, std::uint32_t value) {
  const char bytes[4] = {static_cast<char>(value >> 24U), static_cast<char>(value >> 16U),
                         static_cast<char>(value >> 8U), static_cast<char>(value)};
  out.append(bytes, sizeof bytes);
}

inline void append_int16(std::string& out, std::uint16_t value) {
  const char bytes[2] = {static_cast<char>(value >> 8U), static_cast<char>(value)};
  out.append(bytes, sizeof bytes);
}

inline void append_int64(std::string& out, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  append_int32(out, static_cast<std::uint32_t>(bits >> 32U));
  append_int32(out, static_cast<std::uint32_t>(bits));
}

} // namespace ledgergate::protocol
