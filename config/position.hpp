// A place in the text of the configuration.
#pragma once

namespace ledgergate::config {

/// Both count from 1; 0 means that there is no place in the text.
struct position {
  int line = 0;
  int column = 0;
  bool operator==(const position&) const = default;
};

} // namespace ledgergate::config
