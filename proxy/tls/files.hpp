// PEM files of a `tls:` section, read and checked one by one.
#pragma once

#include <string>
#include <vector>

#include "proxy/tls/context.hpp"
#include "proxy/tls/openssl.hpp"

namespace ledgergate::tls {

/// Reads the files of one section and collects what is wrong with them.
class file_reader {
 public:
  /// `section`: the path of the section in ledgergate.yaml.
  explicit file_reader(std::string section) : section_(std::move(section)) {}

  /// The leaf first, then its chain; none when there was an error. A leaf that is not valid now is an error.
  std::vector<certificate_ptr> certificates(const std::string& key, const std::string& file);
  /// The private key; none when there was an error: with a passphrase, or a file that others can read
  /// (PostgreSQL manual, "ssl_key_file": 0600, or 0640 when root owns it).
  key_ptr private_key(const std::string& key, const std::string& file);
  std::vector<crl_ptr> revocations(const std::string& key, const std::string& file);

  void fail(const std::string& key, std::string message);
  bool failed() const { return !errors_.empty(); }
  std::vector<setup_error> take_errors() { return std::move(errors_); }

 private:
  bool read(const std::string& key, const std::string& file, std::string& text);

  std::string section_;
  std::vector<setup_error> errors_;
};

/// The certificates of a PEM text, without any check; none when there is none or one is broken.
std::vector<certificate_ptr> parse_certificates(const std::string& text);

/// `CN=db.internal` or whatever the subject is, for messages.
std::string subject_of(const X509& certificate);

} // namespace ledgergate::tls
