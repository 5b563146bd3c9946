#include "proxy/tls/files.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

namespace ledgergate::tls {

namespace {

constexpr std::size_t file_bytes_max = std::size_t{1} << 20;

std::string words(int error) { return std::generic_category().message(error); }

struct closing {
  int fd;
  ~closing() { ::close(fd); }
};

/// Asked for the passphrase of an encrypted key: there is nobody to ask.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

bio_ptr memory(const std::string& text) {
  return bio_ptr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// PEM readers report the end of the text as an error of its own.
bool at_end() {
  const auto last = ERR_peek_last_error();
  return ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
}

/// PostgreSQL's rule for private keys, which keeps them from other accounts of the machine.
std::string permission_problem(const struct stat& file) {
  if (file.st_uid != ::geteuid() && file.st_uid != 0) {
    return "is owned by another user; must be owned by the user that the sidecar runs as, or by root";
  }
  const mode_t forbidden = file.st_uid == 0 ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
  if ((file.st_mode & forbidden) == 0) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(file.st_mode & 07777));
  return std::string("can be read or written by others (mode ") + mode.data() +
         "); must have mode 0600 or less, or 0640 or less when root owns it";
}

} // namespace

std::string take_openssl_error() {
  const auto first = ERR_get_error();
  ERR_clear_error();
  if (first == 0) return "unknown error";
  const char* reason = ERR_reason_error_string(first);
  return reason == nullptr ? "error " + std::to_string(first) : reason;
}

void file_reader::fail(const std::string& key, std::string message) {
  errors_.push_back({section_ + "." + key, std::move(message)});
}

bool file_reader::read(const std::string& key, const std::string& file, std::string& text) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    fail(key, file + " cannot be read: " + words(errno));
    return false;
  }
  const closing guard{fd};
  struct stat about {};
  if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    fail(key, file + " is not a file");
    return false;
  }
  if (const std::string problem = permission_problem(about); key == "key" && !problem.empty()) {
    fail(key, file + " " + problem);
    return false;
  }
  text.resize(file_bytes_max + 1);
  std::size_t there = 0;
  for (;;) {
    const auto got = ::read(fd, text.data() + there, text.size() - there);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      fail(key, file + " cannot be read: " + words(errno));
      return false;
    }
    there += static_cast<std::size_t>(got);
    if (got == 0 || there == text.size()) break;
  }
  if (there > file_bytes_max) {
    fail(key, file + " is too large; must be at most 1 MiB");
    return false;
  }
  text.resize(there);
  return true;
}

std::vector<certificate_ptr> parse_certificates(const std::string& text) {
  const bio_ptr source = memory(text);
  std::vector<certificate_ptr> all;
  ERR_clear_error();
  while (certificate_ptr one{PEM_read_bio_X509(source.get(), nullptr, nullptr, nullptr)})
    all.push_back(std::move(one));
  if (!at_end()) all.clear();
  ERR_clear_error();
  return all;
}

std::vector<certificate_ptr> file_reader::certificates(const std::string& key, const std::string& file) {
  std::string text;
  if (!read(key, file, text)) return {};
  auto all = parse_certificates(text);
  if (all.empty()) {
    fail(key, file + " holds no certificate in PEM form, or a broken one");
    return {};
  }
  const X509& leaf = *all.front();
  if (X509_cmp_current_time(X509_get0_notBefore(&leaf)) > 0) {
    fail(key, file + " is not valid yet (subject " + subject_of(leaf) + ")");
    return {};
  }
  if (X509_cmp_current_time(X509_get0_notAfter(&leaf)) < 0) {
    fail(key, file + " has expired (subject " + subject_of(leaf) + ")");
    return {};
  }
  return all;
}

key_ptr file_reader::private_key(const std::string& key, const std::string& file) {
  std::string text;
  if (!read(key, file, text)) return nullptr;
  const bio_ptr source = memory(text);
  bool asked = false;
  ERR_clear_error();
  key_ptr found(PEM_read_bio_PrivateKey(source.get(), nullptr, no_passphrase, &asked));
  ERR_clear_error();
  OPENSSL_cleanse(text.data(), text.size());
  if (found) return found;
  fail(key, asked ? file + " is protected by a passphrase; must be a key without one"
                  : file + " holds no private key in PEM form, or a broken one");
  return nullptr;
}

std::vector<crl_ptr> file_reader::revocations(const std::string& key, const std::string& file) {
  std::string text;
  if (!read(key, file, text)) return {};
  const bio_ptr source = memory(text);
  std::vector<crl_ptr> all;
  ERR_clear_error();
  while (crl_ptr one{PEM_read_bio_X509_CRL(source.get(), nullptr, nullptr, nullptr)})
    all.push_back(std::move(one));
  const bool whole = at_end();
  ERR_clear_error();
  if (whole && !all.empty()) return all;
  fail(key, file + " holds no certificate revocation list in PEM form, or a broken one");
  return {};
}

std::string subject_of(const X509& certificate) {
  const bio_ptr out(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(out.get(), X509_get_subject_name(&certificate), 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

} // namespace ledgergate::tls
