// What a statement is by the name of its node alone.
#pragma once

#include <string_view>

#include <boost/json/object.hpp>

namespace ledgergate::sql {

/// Statements that define, maintain or announce something: they change no balance and look at none, but for
/// what executed_by() says.
bool is_inert_statement(std::string_view node);

/// Data definition: an event trigger may fire.
bool is_definition_statement(std::string_view node);

/// Views, rules, triggers, functions, constraints, partitions, new names: what the catalog can lead through.
/// `wrapper` is the object that has the node as its one member.
bool defines_a_way(std::string_view node, const boost::json::object& wrapper);

} // namespace ledgergate::sql
