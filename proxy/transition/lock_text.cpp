#include "proxy/transition/lock_text.hpp"

namespace ledgergate::transition {

namespace {

std::uint32_t high_half(std::int64_t key) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(key) >> 32);
}
std::uint32_t low_half(std::int64_t key) { return static_cast<std::uint32_t>(key); }

/// Manual, section 54.12 (pg_locks): a bigint key shows its high half as classid, its low half as objid,
/// objsubid 1; a pair of int4 keys shows them as classid and objid, objsubid 2.
std::string condition(std::string_view alias, std::uint32_t classid, std::uint32_t objid, int objsubid) {
  const std::string column = std::string(alias) + ".";
  return column + "classid OPERATOR(pg_catalog.=) " + std::to_string(classid) + "::pg_catalog.oid AND " +
         column + "objid OPERATOR(pg_catalog.=) " + std::to_string(objid) + "::pg_catalog.oid AND " + column +
         "objsubid OPERATOR(pg_catalog.=) " + std::to_string(objsubid) + "::pg_catalog.int2";
}

} // namespace

/// A prepared transaction has no backend, but its own transactionid lock under the same virtual transaction.
const std::string_view with_locks =
    "WITH locks AS MATERIALIZED (SELECT k.pid, k.classid, k.objid, k.objsubid, k.mode, k.granted, "
    "k.waitstart, "
    "k.virtualtransaction, k.transactionid FROM pg_catalog.pg_locks k "
    "WHERE (k.locktype OPERATOR(pg_catalog.=) 'advisory' AND k.database OPERATOR(pg_catalog.=) "
    "(SELECT d.oid FROM pg_catalog.pg_database d "
    "WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())) "
    "OR (k.locktype OPERATOR(pg_catalog.=) 'transactionid' AND k.pid IS NULL)) ";

std::uint32_t slot_key(std::int64_t gate_key) { return high_half(gate_key) ^ low_half(gate_key); }

std::string key_condition(std::string_view alias, std::int64_t key) {
  return condition(alias, high_half(key), low_half(key), 1);
}

std::string key_condition(std::string_view alias, std::uint32_t first, std::uint32_t second) {
  return condition(alias, first, second, 2);
}

std::string seconds_since(std::string_view moment) {
  return "extract(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) " + std::string(moment) +
         ")";
}

} // namespace ledgergate::transition
