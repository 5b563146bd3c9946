#include <algorithm>
#include <utility>

#include "protocol/frontend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "proxy/gate/engine_core.hpp"

namespace ledgergate::gate {

namespace frontend = protocol::frontend;

namespace {

constexpr std::size_t max_password_length = 65535 + 4;
// Enough of a statement that is too long to be read whole to see the names in front of its text.
constexpr std::size_t long_message_front_bytes = 4096;
constexpr std::size_t max_expected_replies = 65536;

} // namespace

std::size_t engine_core::on_client_bytes(std::string_view bytes, actions& out) {
  out_ = &out;
  client_wanted_ = 0;
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    if (client_left_to_server_) return bytes.size();
    const std::string_view view = bytes.substr(taken);
    if (client_rest_ > 0) {
      const std::size_t size = std::min(client_rest_, view.size());
      if (client_rest_fate_ == fate::forward) out.to_server.forward(view.substr(0, size));
      client_rest_ -= size;
      taken += size;
      continue;
    }
    if (wait_ == wait_for::nothing && copy_in_open_) {
      if (const std::size_t run = run_bytes(view, frontend::copy_data, frontend::copy_data); run > 0) {
        data_sent_ = true;
        out.to_server.forward(view.substr(0, run));
        taken += run;
        continue;
      }
    }
    frame message;
    if (wait_ != wait_for::nothing || !read_client_frame(view, message)) break;
    const std::size_t there = std::min(message.total, view.size());
    const fate decided = on_client_frame(message);
    if (decided == fate::hold) break;
    front_seen_ = false;
    first_ran_ = false;
    if (client_left_to_server_) return bytes.size();
    if (decided == fate::forward) out.to_server.forward(view.substr(0, there));
    client_rest_ = message.total - there;
    client_rest_fate_ = decided;
    taken += there;
  }
  return taken;
}

/// CopyData and what may stand between it; Terminate is dealt with before.
bool engine_core::part_of_copy(char tag) {
  return tag == frontend::copy_data || tag == frontend::copy_done || tag == frontend::copy_fail ||
         tag == frontend::flush || tag == frontend::sync;
}

/// The whole messages of one of two types at the front: rows and COPY data come by the thousand and are not
/// looked at.
std::size_t engine_core::run_bytes(std::string_view view, char tag, char other_tag) {
  std::size_t at = 0;
  while (view.size() - at >= protocol::header_bytes && (view[at] == tag || view[at] == other_tag)) {
    const std::size_t length = protocol::load_int32(view.data() + at + 1);
    if (length < 4 || length > protocol::max_frontend_length(frontend::copy_data) ||
        length >= view.size() - at)
      break;
    at += length + 1;
  }
  return at;
}

bool engine_core::read_client_frame(std::string_view view, frame& out) {
  if (view.size() < protocol::header_bytes) return false;
  const std::size_t length = protocol::load_int32(view.data() + 1);
  const bool password = starting_ && view[0] == frontend::password;
  const std::size_t limit = password ? max_password_length : protocol::max_frontend_length(view[0]);
  if (length < 4 || length > limit) {
    leave_to_server(view.substr(0, protocol::header_bytes));
    return true;
  }
  out.tag = view[0];
  out.total = length + 1;
  const std::size_t needed = client_front_bytes(out.tag, out.total);
  if (view.size() < needed) {
    client_wanted_ = needed;
    return false;
  }
  out.whole = view.size() >= out.total;
  out.body = view.substr(protocol::header_bytes, std::min(out.total, view.size()) - protocol::header_bytes);
  if (out.tag == frontend::bind && !starting_) {
    // The names stand in front; they are short unless the client means harm. What is made of them does not
    // depend on how the bytes come.
    const std::size_t read_at_most = std::min(out.total, rules_->max_buffered_statement_bytes);
    out.whole = out.whole && read_at_most == out.total;
    out.body =
        view.substr(protocol::header_bytes, std::min(read_at_most, view.size()) - protocol::header_bytes);
    if (view.size() < read_at_most && !protocol::decode_bind(out.body)) {
      client_wanted_ = std::min(read_at_most, view.size() * 2);
      return false;
    }
  }
  return true;
}

// As a real server: the bad header itself ends the session there, in the server's own words or without any.
void engine_core::leave_to_server(std::string_view header) {
  out_->to_server.forward(header);
  out_->notes.emplace_back().what = note::kind::client_violation;
  client_left_to_server_ = true;
}

std::size_t engine_core::client_front_bytes(char tag, std::size_t total) const {
  if (starting_) return protocol::header_bytes;
  switch (tag) {
  case frontend::copy_data: return protocol::header_bytes;
  case frontend::function_call: return std::min(total, protocol::header_bytes + 4);
  case frontend::bind: return std::min(total, protocol::header_bytes + 2);
  case frontend::query:
  case frontend::parse:
    return total <= rules_->max_buffered_statement_bytes ? total : std::min(total, long_message_front_bytes);
  default: return total;
  }
}

engine_core::fate engine_core::on_client_frame(const frame& message) {
  if (client_left_to_server_) return fate::discard;
  if (starting_) return on_startup_client_frame(message);
  if (discard_front_) {
    discard_front_ = false;
    return fate::discard;
  }
  if (message.tag == frontend::terminate) {
    out_->close = close_reason::client_terminated;
    return fate::forward;
  }
  if (discard_to_sync_ && message.tag != frontend::sync) return fate::discard;
  if (must_wait_for_release(message.tag)) {
    wait_ = wait_for::idle;
    return fate::hold;
  }
  // The server takes none of these while it reads COPY data: it ends the session, in its own words.
  if (copy_in_open_ && !part_of_copy(message.tag)) return fate::forward;
  if (queue_.size() >= max_expected_replies) {
    wait_ = wait_for::room;
    return fate::hold;
  }
  switch (message.tag) {
  case frontend::query: return on_query(message);
  case frontend::parse: return on_parse(message);
  case frontend::bind: return on_bind(message);
  case frontend::execute: return on_execute(message);
  case frontend::describe: return on_describe(message);
  case frontend::close: return on_close(message);
  case frontend::sync: return on_sync();
  case frontend::function_call: return on_function_call(message);
  case frontend::copy_done:
  case frontend::copy_fail: return on_copy_end();
  case frontend::copy_data: data_sent_ = true; return fate::forward;
  default: return fate::forward; // Flush
  }
}

/// A hold ends with its transaction: nothing is sent ahead into the next one, which would keep it (G4).
/// Waiting ends by itself only when everything sent will be answered without more from the client.
bool engine_core::must_wait_for_release(char tag) const {
  if (batch_.open || batch_goes_on_ || skipping_ || copy_in_open_ || part_of_copy(tag) || idle())
    return false;
  if (ready_held_ > 0) return true; // the client's ReadyForQuery must not be overtaken
  if (!hold_.any()) return false;
  return status_ == 'I' || droppers_in_flight_ > 0;
}

engine_core::fate engine_core::on_startup_client_frame(const frame& message) {
  if (message.tag == frontend::password) {
    authentication_asks_ = false;
    return fate::forward;
  }
  if (message.tag == frontend::terminate) {
    out_->close = close_reason::client_terminated;
    return fate::forward;
  }
  if (authentication_asks_) {
    // Not an answer to what the server asked: it refuses the client in its own words.
    return fate::forward;
  }
  wait_ = wait_for::startup; // sent ahead of the end of start-up
  return fate::hold;
}

engine_core::fate engine_core::on_copy_end() {
  copy_in_open_ = false;
  data_sent_ = false;
  if (!queue_.empty() && !skipping_) queue_.push(reply_kind::copy_end, reply_owner::client);
  return fate::forward;
}

} // namespace ledgergate::gate
