#include "proxy/sql/tree_control.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "proxy/sql/lexer.hpp"
#include "proxy/sql/tree_node.hpp"

namespace ledgergate::sql {

control_kind control_of_transaction(const json::object& node) {
  struct kind_name {
    std::string_view name;
    control_kind kind;
  };
  static constexpr std::array<kind_name, 10> kinds = {{
      {"TRANS_STMT_BEGIN", control_kind::begin},
      {"TRANS_STMT_START", control_kind::begin},
      {"TRANS_STMT_COMMIT", control_kind::commit},
      {"TRANS_STMT_ROLLBACK", control_kind::rollback},
      {"TRANS_STMT_SAVEPOINT", control_kind::savepoint},
      {"TRANS_STMT_RELEASE", control_kind::release},
      {"TRANS_STMT_ROLLBACK_TO", control_kind::rollback_to},
      {"TRANS_STMT_PREPARE", control_kind::prepare_transaction},
      {"TRANS_STMT_COMMIT_PREPARED", control_kind::other_two_phase},
      {"TRANS_STMT_ROLLBACK_PREPARED", control_kind::other_two_phase},
  }};
  const std::string_view name = text_of(node, "kind");
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const kind_name& known) { return known.name == name; });
  if (found == kinds.end()) return control_kind::none;
  if (!flag_of(node, "chain")) return found->kind;
  return found->kind == control_kind::commit ? control_kind::commit_and_chain
                                             : control_kind::rollback_and_chain;
}

control_kind control_of_setting(const json::object& node) {
  static constexpr std::array<std::string_view, 6> names = {
      "transaction",           "transaction snapshot",  "session characteristics",
      "transaction_isolation", "transaction_read_only", "transaction_deferrable"};
  const std::string_view kind = text_of(node, "kind");
  if (kind != "VAR_SET_VALUE" && kind != "VAR_SET_DEFAULT" && kind != "VAR_SET_MULTI")
    return control_kind::none;
  const std::string_view name = text_of(node, "name");
  const bool known =
      std::any_of(names.begin(), names.end(), [&](auto other) { return equals_folded(name, other); });
  return known ? control_kind::set_transaction : control_kind::none;
}

} // namespace ledgergate::sql
