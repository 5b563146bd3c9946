#include "proxy/admin/authorization.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/beast/core/string.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ledgergate::admin {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t max_token_file_bytes = 4096;

class file_descriptor {
 public:
  explicit file_descriptor(int value) : value_(value) {}
  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;
  ~file_descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }

 private:
  int value_;
};

std::string_view without_surrounding_space(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

using digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

digest digest_of(std::string_view text) {
  digest result{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), result.data());
  return result;
}

/// Comparing digests of equal length hides the token's length as well as its bytes.
bool same_secret(std::string_view left, std::string_view right) {
  const digest left_digest = digest_of(left);
  const digest right_digest = digest_of(right);
  return CRYPTO_memcmp(left_digest.data(), right_digest.data(), left_digest.size()) == 0;
}

std::string_view value_of(const http::fields& request, http::field name) {
  const beast::string_view value = request[name];
  return {value.data(), value.size()};
}

std::string_view value_of(const http::fields& request, const char* name) {
  const beast::string_view value = request[name];
  return {value.data(), value.size()};
}

/// "host" and "port" of an authority; an absent port is the scheme's own.
std::pair<std::string_view, std::string_view> split_authority(std::string_view authority,
                                                              std::string_view default_port) {
  const std::size_t colon = authority.rfind(':');
  const std::size_t bracket = authority.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    return {authority, default_port};
  }
  return {authority.substr(0, colon), authority.substr(colon + 1)};
}

bool names_same_authority(std::string_view origin, std::string_view host) {
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return false;
  const std::string_view scheme = origin.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https") return false;
  const std::string_view default_port = scheme == "http" ? "80" : "443";
  const auto page = split_authority(origin.substr(scheme_end + 3), default_port);
  const auto server = split_authority(host, default_port);
  return !page.first.empty() &&
         beast::iequals(beast::string_view(page.first.data(), page.first.size()),
                        beast::string_view(server.first.data(), server.first.size())) &&
         page.second == server.second;
}

} // namespace

token_file::token_file(std::optional<std::string> path) : path_(std::move(path)) { refresh(); }

const std::string& token_file::problem() {
  refresh();
  return problem_;
}

token_check token_file::check(const http::fields& request) {
  if (!path_) return token_check::not_configured;
  refresh();
  if (!problem_.empty()) return token_check::unreadable;
  const std::size_t shown_count = request.count(http::field::authorization);
  if (shown_count == 0) return token_check::missing;
  if (shown_count > 1) return token_check::malformed;
  const std::string_view shown = value_of(request, http::field::authorization);
  constexpr std::string_view scheme = "Bearer ";
  if (shown.size() <= scheme.size() ||
      !beast::iequals(beast::string_view(shown.data(), scheme.size()), "Bearer ")) {
    return token_check::malformed;
  }
  const std::string_view token = without_surrounding_space(shown.substr(scheme.size()));
  return same_secret(token, token_) ? token_check::accepted : token_check::wrong;
}

void token_file::refresh() {
  if (!path_) return;
  const file_descriptor file(::open(path_->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    problem_ = "token file " + *path_ + ": " + std::strerror(errno);
    token_.clear();
    seen_.reset();
    return;
  }
  const file_identity identity{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                               status.st_mtim.tv_nsec};
  if (seen_ == identity) return;
  seen_ = identity;
  token_.clear();
  problem_.clear();
  if (!S_ISREG(status.st_mode)) {
    problem_ = "token file " + *path_ + " is not a file";
    return;
  }
  read(file.get());
}

void token_file::read(int descriptor) {
  std::array<char, max_token_file_bytes + 1> buffer{};
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = ::read(descriptor, buffer.data() + size, buffer.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      problem_ = "token file " + *path_ + ": " + std::strerror(errno);
      return;
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  const std::string_view token = without_surrounding_space({buffer.data(), size});
  if (size > max_token_file_bytes) {
    problem_ = "token file " + *path_ + " is larger than 4096 bytes";
  } else if (token.empty()) {
    problem_ = "token file " + *path_ + " is empty";
  } else {
    token_ = token;
  }
}

bool is_cross_origin(const http::fields& request) {
  const std::string_view site = value_of(request, "Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  if (request.count(http::field::origin) == 0) return false;
  return !names_same_authority(value_of(request, http::field::origin), value_of(request, http::field::host));
}

} // namespace ledgergate::admin
