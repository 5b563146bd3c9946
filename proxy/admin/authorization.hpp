// Who may change something: the bearer token of the token file, and the rule that a browser page of another
// origin may not. Used on the admin server's thread only.
#pragma once

#include <boost/beast/http/fields.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ledgergate::admin {

/// Whether a caller showed the token, and if not, why.
enum class token_check {
  accepted,
  not_configured, ///< there is no token file, so nobody may change anything
  unreadable,     ///< the token file is missing, unreadable, empty or too large; see token_file::problem()
  missing,        ///< the request carries no `Authorization: Bearer`
  malformed,      ///< the request carries several Authorization fields, or another scheme
  wrong,
};

/// The token of `admin.token_file`. The file is read at start and again whenever it was replaced or written,
/// so that a rotated secret counts at once; a file that became unreadable refuses everybody instead of
/// keeping the old token.
class token_file {
 public:
  /// Without a path every check answers not_configured.
  explicit token_file(std::optional<std::string> path);

  bool configured() const { return path_.has_value(); }

  /// Reads the file again if it changed. Empty when it could be read or is not configured, else the reason in
  /// one sentence.
  const std::string& problem();

  /// Compares in constant time, whatever the length of what was shown.
  token_check check(const boost::beast::http::fields& request);

 private:
  /// What tells one state of the file from the next.
  struct file_identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified_seconds = 0;
    std::int64_t modified_nanoseconds = 0;
    bool operator==(const file_identity&) const = default;
  };

  void refresh();
  void read(int descriptor);

  std::optional<std::string> path_;
  std::optional<file_identity> seen_;
  std::string token_;
  std::string problem_;
};

/// True when a browser says that the request comes from a page of another host than the one it is sent to: an
/// `Origin` that is opaque, malformed or names another host or port than `Host`, or `Sec-Fetch-Site` other
/// than same-origin or none. A request without either field does not come from a page (every browser sends
/// Origin with a POST or DELETE).
bool is_cross_origin(const boost::beast::http::fields& request);

} // namespace ledgergate::admin
