// ledgergate.yaml to a value: either settings that are complete and consistent, or every error of the file at
// once. Nothing is silently corrected: an unknown key, a wrong type and a value out of range are errors.
#pragma once

#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "config/document.hpp"
#include "config/settings.hpp"

namespace ledgergate::config {

struct load_error {
  std::string file;
  position at; ///< of the value, or of the nearest thing that encloses what is missing; {0, 0}: the file as a
               ///< whole
  std::string key;     ///< `gate.tables[2].pin_on`; empty when the error is not about a key
  std::string message; ///< what is wrong and what is allowed; never holds a password
};

/// `horde.yaml:12:5: gate.tables[2].pin_on: "always" is not allowed; must be one of any, lock, write`.
[[nodiscard]] std::string to_string(const load_error& error);

/// One error per line.
[[nodiscard]] std::string to_string(const std::vector<load_error>& errors);

/// An error that was found after reading, at the place of `key` in the file that `value` came from, or of the
/// nearest thing around it.
[[nodiscard]] load_error error_at_key(const settings& value, const std::string& file_name, std::string key,
                                      std::string message);

/// The errors are in the order of the file and there is at least one.
using load_result = boost::system::result<settings, std::vector<load_error>>;

/// Blocks on the file system. A file that cannot be read, or is larger than 1 MiB, is an error like any
/// other.
[[nodiscard]] load_result load_file(const std::string& path);

/// `file_name` is only for the errors.
[[nodiscard]] load_result load_text(const std::string& text, const std::string& file_name);

} // namespace ledgergate::config
