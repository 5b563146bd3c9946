#include "proxy/gate/isolation.hpp"

#include <algorithm>

#include "protocol/reader.hpp"

namespace ledgergate::gate {

isolation_level level_of_setting(std::string_view value) {
  if (value == "read committed" || value == "read uncommitted") return isolation_level::low;
  return isolation_level::high;
}

bool snapshot::sees(std::uint64_t transaction) const {
  if (transaction < xmin) return true;
  if (transaction >= xmax) return false;
  return std::find(in_progress.begin(), in_progress.end(), transaction) == in_progress.end();
}

std::optional<snapshot> decode_snapshot(std::string_view binary) {
  protocol::reader in(binary);
  const auto int64 = [&in] {
    const std::uint64_t high = in.int32();
    return high << 32U | in.int32();
  };
  const std::size_t count = in.int32();
  snapshot out;
  out.xmin = int64();
  out.xmax = int64();
  if (!in.ok() || in.rest().size() != count * 8) return std::nullopt;
  out.in_progress.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    out.in_progress.push_back(int64());
  return out;
}

} // namespace ledgergate::gate
