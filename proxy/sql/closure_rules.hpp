// The catalog closure over the facts of a statement: names looked up by hash, then compared like the
// configured ones (a schema that is not written on one side matches any).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/sql/catalog_closure.hpp"
#include "proxy/sql/judgement.hpp"
#include "proxy/sql/statement_facts.hpp"

namespace ledgergate::sql {

class closure_rules {
 public:
  /// Without a closure nothing matches and every function is unknown.
  explicit closure_rules(std::shared_ptr<const catalog_closure> closure = nullptr);

  judgement judge(const statement_facts& facts) const;

  /// Some name of the closure occurs in the text, ASCII case folded.
  bool any_name_in(std::string_view text) const;
  /// Some name whose use is a transition occurs in the text.
  bool transition_in(std::string_view text) const;

  /// A call by OID, for an OID that is not PostgreSQL's own. A touch unless the catalogs know it not to lead
  /// to the ledger.
  touch_kind judge_oid(std::uint32_t oid) const;

  /// A type that is known by its OID alone, such as that of a parameter: what it does when a value is made.
  touch_kind judge_type(std::uint32_t oid) const;

  /// The catalogs are to be read and were not yet: what is not clearly harmless touches.
  bool unread() const { return closure_ != nullptr && closure_->unread; }
  const catalog_closure* closure() const { return closure_.get(); }

 private:
  template <typename Entry>
  using by_name = std::unordered_multimap<std::string_view, std::reference_wrapper<const Entry>>;

  judgement judge_relation(const relation_access& access) const;
  static judgement judge_name(const by_name<closure_name>& names, const std::string& schema,
                              const std::string& name, const char* use);

  std::shared_ptr<const catalog_closure> closure_;
  by_name<closure_relation> relations_; ///< the keys view the closure
  by_name<closure_name> functions_;
  by_name<closure_name> operators_;
  by_name<closure_name> types_;
};

/// A name of the closure, for the mention test.
struct closure_mention {
  const std::string& name;
  touch_kind strongest; ///< that it can lead to
  bool is_relation;     ///< a write of it, not its mere use, may change the mode
};
void for_each_name(const catalog_closure& closure, const std::function<void(closure_mention)>& visit);

} // namespace ledgergate::sql
