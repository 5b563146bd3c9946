// Owners of OpenSSL's objects, and its errors as text. For the .cpp files of this folder.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

namespace ledgergate::tls {

struct free_openssl {
  void operator()(BIO* what) const { BIO_free(what); }
  void operator()(EVP_PKEY* what) const { EVP_PKEY_free(what); }
  void operator()(X509* what) const { X509_free(what); }
  void operator()(X509_CRL* what) const { X509_CRL_free(what); }
  void operator()(X509_STORE_CTX* what) const { X509_STORE_CTX_free(what); }
};

using bio_ptr = std::unique_ptr<BIO, free_openssl>;
using key_ptr = std::unique_ptr<EVP_PKEY, free_openssl>;
using certificate_ptr = std::unique_ptr<X509, free_openssl>;
using crl_ptr = std::unique_ptr<X509_CRL, free_openssl>;
using store_context_ptr = std::unique_ptr<X509_STORE_CTX, free_openssl>;

/// The first error that OpenSSL has queued for this thread, in its words; the queue is empty afterwards.
std::string take_openssl_error();

} // namespace ledgergate::tls
