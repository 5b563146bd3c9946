// How gatectl says that something did not go as asked: what happened, then what to do next, on standard
// error.
#pragma once

#include <optional>
#include <string_view>

#include <boost/json/value.hpp>

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"
#include "proxy/ctl/exit_code.hpp"

namespace ledgergate::ctl {

/// `gatectl: MESSAGE` and below it the hint, if there is one.
void report(console& terminal, std::string_view message, std::string_view hint);

/// There was no answer.
void report(console& terminal, const client_error& error);

/// The sidecar answered with an error. With `-o json` its body goes to standard output as it came.
void report(console& terminal, const admin_answer& answer, output_format format);

/// Of a request that changes nothing. Empty when the answer is 200; otherwise the failure has been reported.
std::optional<exit_code> failure_of(console& terminal, const admin_result& result, output_format format);

/// A request for a change was refused: reported. 500 and 504 say nothing about what happened; every other
/// refusal is one.
exit_code refused(console& terminal, const admin_answer& answer, output_format format);

/// One line on standard output.
void print_json(console& terminal, const boost::json::value& body);

} // namespace ledgergate::ctl
