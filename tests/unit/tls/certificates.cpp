#include "tests/unit/tls/certificates.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/support/temporary_folder.hpp"

namespace ledgergate::test {

namespace {

struct made_certificates {
  made_certificates() {
    const std::string command = std::string(LG_MAKE_CERTIFICATES) + " " + folder.file("");
    if (std::system(command.c_str()) == 0) return;
    std::cerr << "failed: " << command << '\n';
    std::abort();
  }
  temporary_folder folder;
};

} // namespace

std::string certificate_file(const std::string& name) {
  static const made_certificates made;
  return made.folder.file(name);
}

std::string certificate_text(const std::string& name) {
  std::ifstream in(certificate_file(name));
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace ledgergate::test
