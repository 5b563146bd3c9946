// Type bytes of the messages of protocol 3 (PostgreSQL manual, "Message Formats").
#pragma once

#include <cstddef>
#include <cstdint>

namespace ledgergate::protocol {

/// Messages from the frontend (the client).
namespace frontend {
inline constexpr char bind = 'B';
inline constexpr char close = 'C';
inline constexpr char copy_data = 'd';
inline constexpr char copy_done = 'c';
inline constexpr char copy_fail = 'f';
inline constexpr char describe = 'D';
inline constexpr char execute = 'E';
inline constexpr char flush = 'H';
inline constexpr char function_call = 'F';
inline constexpr char parse = 'P';
inline constexpr char password = 'p'; ///< also the GSS and SASL responses
inline constexpr char query = 'Q';
inline constexpr char sync = 'S';
inline constexpr char terminate = 'X';
} // namespace frontend

/// Messages from the backend (the server).
namespace backend {
inline constexpr char authentication = 'R';
inline constexpr char backend_key_data = 'K';
inline constexpr char bind_complete = '2';
inline constexpr char close_complete = '3';
inline constexpr char command_complete = 'C';
inline constexpr char copy_both_response = 'W';
inline constexpr char copy_data = 'd';
inline constexpr char copy_done = 'c';
inline constexpr char copy_in_response = 'G';
inline constexpr char copy_out_response = 'H';
inline constexpr char data_row = 'D';
inline constexpr char empty_query_response = 'I';
inline constexpr char error_response = 'E';
inline constexpr char function_call_response = 'V';
inline constexpr char negotiate_protocol_version = 'v';
inline constexpr char no_data = 'n';
inline constexpr char notice_response = 'N';
inline constexpr char notification_response = 'A';
inline constexpr char parameter_description = 't';
inline constexpr char parameter_status = 'S';
inline constexpr char parse_complete = '1';
inline constexpr char portal_suspended = 's';
inline constexpr char ready_for_query = 'Z';
inline constexpr char row_description = 'T';
} // namespace backend

/// A message is one type byte and an Int32 length that counts itself but not the type byte.
inline constexpr std::size_t header_bytes = 5;

/// The largest length a server accepts for a frontend message of this type once the session is up; 0: there
/// is no such message. The server closes the connection at a larger one (src/backend/tcop/postgres.c,
/// SocketBackend).
std::uint32_t max_frontend_length(char tag);

} // namespace ledgergate::protocol
