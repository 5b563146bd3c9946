// The process's limit on open descriptors.
#pragma once

#include <cstddef>

namespace ledgergate::net {

/// Raises the soft limit to the hard one and returns what is in force. A session needs two descriptors.
std::size_t raise_descriptor_limit();

} // namespace ledgergate::net
