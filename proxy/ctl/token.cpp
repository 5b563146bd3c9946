#include "proxy/ctl/token.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace ledgergate::ctl {
namespace {

constexpr std::size_t max_token_file_bytes = 4096;

} // namespace

std::variant<std::string, token_error> read_token(const std::string& path) {
  std::string text(max_token_file_bytes + 1, '\0');
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (file.is_open()) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return token_error{"cannot read the token file " + path + ": " + std::strerror(errno)};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_token_file_bytes)
    return token_error{"the token file " + path + " is larger than 4096 bytes"};
  constexpr const char* space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string::npos) return token_error{"the token file " + path + " is empty"};
  text = text.substr(first, text.find_last_not_of(space) - first + 1);
  const bool printable = std::all_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (!printable) return token_error{"the token file " + path + " does not hold one line of text"};
  return text;
}

} // namespace ledgergate::ctl
