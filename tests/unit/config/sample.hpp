// A small complete configuration that tests change line by line.
#pragma once

#include <string>
#include <string_view>

#include "config/load.hpp"

namespace ledgergate::config::test {

/// Valid, with nothing but what is required.
extern const std::string sample;

/// `text` with the one occurrence of `from` replaced; a missing or ambiguous `from` fails the test.
std::string with(std::string text, std::string_view from, std::string_view to);

/// The settings of a text that must be valid; its errors fail the test.
settings loaded(const std::string& text);

/// The errors of a text that must be invalid, as shown to an operator, one per line. The file is called
/// "f.yaml".
std::string errors_of(const std::string& text);

} // namespace ledgergate::config::test
