#include "proxy/gate/pin_messages.hpp"

#include <initializer_list>
#include <string_view>
#include <vector>

#include "protocol/frontend_message.hpp"

namespace ledgergate::gate {

namespace {

// Built-in functions have fixed OIDs (F2).
constexpr std::uint32_t advisory_lock = 2880;
constexpr std::uint32_t advisory_lock_shared = 2881;
constexpr std::uint32_t advisory_unlock = 2884;
constexpr std::uint32_t advisory_unlock_shared = 2885;
constexpr std::uint32_t current_setting = 2077;
constexpr std::uint32_t pg_current_snapshot = 5061;
constexpr std::uint32_t advisory_xact_lock = 3089;
constexpr std::uint32_t advisory_xact_lock_shared = 3090;

// The proxy's own statement and portal. A client that uses this very name would be at odds with it, as with
// any other client library of the connection that keeps names of its own.
constexpr std::string_view pin_name = "_ledgergate_pin";
constexpr std::string_view missing_name = "_ledgergate_refuses";

struct lock_call {
  std::uint32_t oid;
  std::string_view function;
  std::int64_t key;
};

std::string calls(const std::vector<lock_call>& locks) {
  std::string out;
  for (const lock_call& lock : locks)
    out += protocol::make_function_call(lock.oid, lock.key);
  return out;
}

std::string select_text(const std::vector<lock_call>& locks) {
  std::string text = "SELECT ";
  for (const lock_call& lock : locks) {
    if (text.size() > 7) text += ", ";
    text +=
        "pg_catalog." + std::string(lock.function) + "('" + std::to_string(lock.key) + "'::pg_catalog.int8)";
  }
  return text;
}

std::string query(const std::vector<lock_call>& locks) {
  std::string out;
  protocol::append_query(out, select_text(locks));
  return out;
}

// F21: the leading Close clears what an error left behind; F32: Close('S') alone leaves the portal.
std::string batch(const std::vector<lock_call>& locks) {
  std::string out;
  protocol::append_close(out, 'S', pin_name);
  protocol::append_parse(out, pin_name, select_text(locks));
  protocol::append_bind(out, pin_name, pin_name);
  protocol::append_execute(out, pin_name);
  protocol::append_close(out, 'P', pin_name);
  protocol::append_close(out, 'S', pin_name);
  return out;
}

lock_messages make(const std::vector<lock_call>& transaction, const std::vector<lock_call>& session,
                   const std::vector<lock_call>& release) {
  lock_messages out;
  out.transaction_calls = calls(transaction);
  out.transaction_call_count = static_cast<unsigned>(transaction.size());
  out.session_calls = calls(session);
  out.session_call_count = static_cast<unsigned>(session.size());
  out.session_release_calls = calls(release);
  out.session_release_call_count = static_cast<unsigned>(release.size());
  out.session_query = query(session);
  out.session_release_query = query(release);
  out.batch = batch(transaction);
  std::vector<lock_call> both = session;
  both.insert(both.end(), transaction.begin(), transaction.end());
  out.batch_with_session = batch(both);
  return out;
}

} // namespace

pin_messages make_pin_messages(std::int64_t lock_key, std::optional<std::int64_t> applier_lock_key) {
  pin_messages out;
  out.shared = make({{advisory_xact_lock_shared, "pg_advisory_xact_lock_shared", lock_key}},
                    {{advisory_lock_shared, "pg_advisory_lock_shared", lock_key}},
                    {{advisory_unlock_shared, "pg_advisory_unlock_shared", lock_key}});

  // Lock order everywhere: applier before gate (F8).
  std::vector<lock_call> transaction, session, release;
  if (applier_lock_key) {
    transaction.push_back({advisory_xact_lock, "pg_advisory_xact_lock", *applier_lock_key});
    session.push_back({advisory_lock, "pg_advisory_lock", *applier_lock_key});
  }
  transaction.push_back({advisory_xact_lock, "pg_advisory_xact_lock", lock_key});
  session.push_back({advisory_lock, "pg_advisory_lock", lock_key});
  release.push_back({advisory_unlock, "pg_advisory_unlock", lock_key});
  if (applier_lock_key) release.push_back({advisory_unlock, "pg_advisory_unlock", *applier_lock_key});
  out.exclusive = make(transaction, session, release);

  protocol::append_close(out.close_unnamed_statement, 'S', "");
  protocol::append_close(out.as_extended_prefix, 'S', "");
  protocol::append_close(out.as_extended_prefix, 'P', "");
  protocol::append_bind(out.as_extended_suffix, "", "");
  protocol::append_describe(out.as_extended_suffix, 'P', "");
  protocol::append_execute(out.as_extended_suffix, "");
  protocol::append_close(out.as_extended_suffix, 'S', "");
  protocol::append_sync(out.as_extended_suffix);
  out.ask_default_isolation = protocol::make_function_call(current_setting, "default_transaction_isolation");
  out.ask_isolation = protocol::make_function_call(current_setting, "transaction_isolation");
  out.ask_read_only = protocol::make_function_call(current_setting, "transaction_read_only");
  out.ask_snapshot = protocol::make_function_call(pg_current_snapshot);
  protocol::append_query(out.rollback_and_chain, "ROLLBACK AND CHAIN");
  out.failing_call = protocol::make_function_call(0);
  protocol::append_query(out.failing_query, "ledgergate refuses");
  protocol::append_bind(out.failing_bind, missing_name, missing_name);
  protocol::append_sync(out.sync);
  return out;
}

} // namespace ledgergate::gate
