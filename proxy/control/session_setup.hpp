// The texts that turn a fresh connection into a control session, and what they find out.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <boost/system/result.hpp>

#include "proxy/transition/sql_result.hpp"

namespace ledgergate::control {

/// What is known about a control session once it is ready.
struct session_facts {
  std::int32_t backend_pid = 0;
  int server_version = 0; ///< as server_version_num, 150004 for 15.4
  std::string database;
  std::string user;                                 ///< the control role
  std::chrono::milliseconds deadlock_timeout{1000}; ///< what other sessions of the server have
  bool deadlock_timeout_shortened = false;          ///< this session looks for deadlocks early (F30)
};

/// Oldest server that shows since when a lock is waited for, and that notices a vanished client by itself.
inline constexpr int oldest_server_version = 140000;

/// Set one: the settings that were set. Set two: the facts.
std::string setup_text();
/// Shortens deadlock_timeout where the role may, else returns no row. Needs the server's version: the
/// function that tells is of 15, and before that only a superuser may.
std::string deadlock_timeout_text(int server_version);

struct setup_error {
  std::string message;
};

/// `expected_database`: the gated one, or empty for whatever it is. Advisory locks are local to a database
/// (F19): a session in another one would take a gate that nobody else knows.
boost::system::result<session_facts, setup_error> read_facts(const transition::sql_result& result,
                                                             const std::string& expected_database);

} // namespace ledgergate::control
