// How gatectl says that something did not go as asked: what happened, then what to do next, on standard
// error.
#pragma once

#include <string_view>

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"

namespace ledgergate::ctl {

/// `gatectl: MESSAGE` and below it the hint, if there is one.
void report(console& terminal, std::string_view message, std::string_view hint);

/// There was no answer.
void report(console& terminal, const client_error& error);

/// The sidecar answered with an error. With `-o json` its body goes to standard output as it came.
void report(console& terminal, const admin_answer& answer, output_format format);

} // namespace ledgergate::ctl
