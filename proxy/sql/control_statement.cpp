// Transaction control read from its leading keywords (manual: BEGIN, START TRANSACTION, COMMIT, ROLLBACK,
// SAVEPOINT, RELEASE SAVEPOINT, ROLLBACK TO SAVEPOINT, PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK
// PREPARED, SET TRANSACTION). What is not written exactly as the grammar has it is `none`: the server will
// refuse it, and its answer is what counts.
#include "proxy/sql/classifier.hpp"
#include "proxy/sql/lexer.hpp"

namespace ledgergate::sql {

namespace {

class control_reader {
 public:
  explicit control_reader(std::string_view text) : lexer_(text) {
    do
      advance();
    while (is_symbol(';'));
  }

  control_kind read() {
    if (token_.kind != token_kind::word) return control_kind::none;
    if (take("begin")) return take_work(), modes(control_kind::begin);
    if (take("start")) return take("transaction") ? modes(control_kind::begin) : control_kind::none;
    if (take("commit")) return commit();
    if (take("end")) return take_work(), chain(control_kind::commit, control_kind::commit_and_chain);
    if (take("rollback")) return rollback();
    if (take("abort")) return take_work(), chain(control_kind::rollback, control_kind::rollback_and_chain);
    if (take("savepoint")) return name(control_kind::savepoint);
    if (take("release")) return release();
    if (take("prepare"))
      return take("transaction") ? gid(control_kind::prepare_transaction) : control_kind::none;
    if (take("set")) return set();
    return control_kind::none;
  }

  /// Nothing but empty statements is left.
  bool at_end_of_text() {
    if (!end_is_known_) return false;
    while (is_symbol(';'))
      advance();
    return token_.kind == token_kind::end;
  }

 private:
  void advance() { token_ = lexer_.next(); }
  bool is_symbol(char c) const { return token_.kind == token_kind::symbol && token_.text.front() == c; }
  bool at_end_of_statement() const { return token_.kind == token_kind::end || is_symbol(';'); }

  bool take(std::string_view keyword) {
    if (token_.kind != token_kind::word || !equals_folded(token_.text, keyword)) return false;
    advance();
    return true;
  }

  void take_work() {
    if (!take("work")) take("transaction");
  }

  control_kind ended(control_kind kind) const { return at_end_of_statement() ? kind : control_kind::none; }

  control_kind modes(control_kind kind) {
    while (token_.kind == token_kind::word || is_symbol(','))
      advance();
    return ended(kind);
  }

  control_kind chain(control_kind plain, control_kind chained) {
    if (!take("and")) return ended(plain);
    if (take("no")) return take("chain") ? ended(plain) : control_kind::none;
    return take("chain") ? ended(chained) : control_kind::none;
  }

  control_kind commit() {
    if (take("prepared")) return gid(control_kind::other_two_phase);
    take_work();
    return chain(control_kind::commit, control_kind::commit_and_chain);
  }

  control_kind rollback() {
    if (take("prepared")) return gid(control_kind::other_two_phase);
    take_work();
    if (!take("to")) return chain(control_kind::rollback, control_kind::rollback_and_chain);
    return optional_savepoint(control_kind::rollback_to);
  }

  control_kind release() { return optional_savepoint(control_kind::release); }

  // SAVEPOINT is an unreserved word, so `RELEASE savepoint` alone names a savepoint called savepoint.
  control_kind optional_savepoint(control_kind kind) {
    if (take("savepoint") && at_end_of_statement()) return kind;
    return name(kind);
  }

  control_kind name(control_kind kind) {
    if (token_.kind != token_kind::word && token_.kind != token_kind::quoted_identifier)
      return control_kind::none;
    const bool unicode = token_.text.size() > 1 && token_.text[1] == '&';
    advance();
    if (unicode && take("uescape")) return gid(kind);
    return ended(kind);
  }

  control_kind gid(control_kind kind) {
    if (token_.kind != token_kind::string) return control_kind::none;
    if (token_.has_backslash) {
      end_is_known_ = false;
      return kind;
    }
    const bool unicode = token_.text.size() > 1 && token_.text[1] == '&';
    advance();
    if (unicode && take("uescape")) return gid(kind);
    return ended(kind);
  }

  control_kind set() {
    if (take("session")) {
      if (take("characteristics")) {
        return take("as") && take("transaction") ? modes(control_kind::set_transaction) : control_kind::none;
      }
    } else {
      take("local");
    }
    if (take("transaction")) {
      if (take("snapshot")) return gid(control_kind::set_transaction);
      return modes(control_kind::set_transaction);
    }
    return transaction_property();
  }

  // The properties of SET TRANSACTION are settings too: writing them has the same effect and the same time
  // limit.
  control_kind transaction_property() {
    if (!take("transaction_isolation") && !take("transaction_read_only") && !take("transaction_deferrable")) {
      return control_kind::none;
    }
    if (token_.kind != token_kind::operation &&
        !(token_.kind == token_kind::word && equals_folded(token_.text, "to"))) {
      return control_kind::none;
    }
    advance();
    const bool value = token_.kind == token_kind::word || token_.kind == token_kind::number ||
                       (token_.kind == token_kind::string && !token_.has_backslash);
    if (!value) return control_kind::none;
    advance();
    return ended(control_kind::set_transaction);
  }

  lexer lexer_;
  token token_;
  bool end_is_known_ = true; ///< false behind a string whose end depends on standard_conforming_strings
};

} // namespace

control_kind leading_control_statement(std::string_view text) { return control_reader(text).read(); }

control_kind single_control_statement(std::string_view text) {
  control_reader reader(text);
  const control_kind kind = reader.read();
  return kind != control_kind::none && reader.at_end_of_text() ? kind : control_kind::none;
}

namespace {

std::string_view first_statement(std::string_view text) {
  lexer tokens(text);
  bool inside = false;
  for (token next = tokens.next(); next.kind != token_kind::end && next.kind != token_kind::unterminated;
       next = tokens.next()) {
    if (next.kind != token_kind::symbol || next.text != ";") {
      inside = true;
    } else if (inside) {
      return text.substr(0, static_cast<std::size_t>(next.text.data() - text.data()));
    }
  }
  return text;
}

} // namespace

std::string_view leading_settings(std::string_view text) {
  std::size_t end = first_statement(text).size();
  while (end < text.size() &&
         leading_control_statement(text.substr(end + 1)) == control_kind::set_transaction)
    end += 1 + first_statement(text.substr(end + 1)).size();
  return text.substr(0, end);
}

} // namespace ledgergate::sql
