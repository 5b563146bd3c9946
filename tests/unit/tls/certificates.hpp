// The certificates of tests/support/make_certificates, made once for each test program.
#pragma once

#include <string>

namespace ledgergate::test {

/// The path of one of its files; the test program ends when they cannot be made.
std::string certificate_file(const std::string& name);

/// What it holds.
std::string certificate_text(const std::string& name);

} // namespace ledgergate::test
