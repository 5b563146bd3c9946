#include "proxy/gate/actions.hpp"

namespace ledgergate::gate {

const char* to_string(pin_shape shape) {
  switch (shape) {
  case pin_shape::function_call: return "function_call";
  case pin_shape::in_batch: return "in_batch";
  case pin_shape::as_extended: return "as_extended";
  case pin_shape::envelope: return "envelope";
  }
  return "unknown";
}

} // namespace ledgergate::gate
