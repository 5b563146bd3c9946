// What was built: the only place where programs learn their version.
#pragma once

#include <string>
#include <string_view>

namespace ledgergate::config {

/// Such as 0.1.0: the version of project() in the root CMakeLists.txt.
std::string_view version();
/// The commit it was built from, with -dirty behind it when the tree had changes; `unknown` when it was built
/// outside of a clone and nobody gave LG_COMMIT.
std::string_view commit();
/// `0.1.0 (commit 0123456789ab)`
std::string version_text();

} // namespace ledgergate::config
