#include <algorithm>
#include <utility>

#include "protocol/backend_message.hpp"
#include "protocol/error_response.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "proxy/gate/engine_core.hpp"

namespace ledgergate::gate {

namespace backend = protocol::backend;

namespace {

// Messages that are looked at whole are short; one that is longer is passed or dropped piecewise, unread.
constexpr std::size_t max_whole_server_bytes = 65536;

bool looked_at_whole(char tag) {
  switch (tag) {
  case backend::authentication:
  case backend::backend_key_data:
  case backend::command_complete:
  case backend::error_response:
  case backend::function_call_response:
  case backend::parameter_status:
  case backend::ready_for_query:
  case backend::row_description: return true;
  default: return false;
  }
}

} // namespace

engine_core::engine_core(std::shared_ptr<const gate_rules> rules, session_kind kind,
                         statement_counters& counters)
    : rules_(std::move(rules)), kind_(kind), counters_(counters) {}

std::size_t engine_core::on_server_bytes(std::string_view bytes, actions& out) {
  out_ = &out;
  server_wanted_ = 0;
  std::size_t taken = 0;
  while (taken < bytes.size() && out.close != close_reason::server_protocol_violation) {
    const std::string_view view = bytes.substr(taken);
    if (server_rest_ > 0) {
      const std::size_t size = std::min(server_rest_, view.size());
      if (server_rest_fate_ == fate::forward) out.to_client.forward(view.substr(0, size));
      server_rest_ -= size;
      taken += size;
      continue;
    }
    if (rows_pass()) {
      if (const std::size_t run = run_bytes(view, backend::data_row, backend::copy_data); run > 0) {
        out.to_client.forward(view.substr(0, run));
        taken += run;
        continue;
      }
    }
    frame message;
    if (!read_server_frame(view, message)) break;
    const std::size_t there = std::min(message.total, view.size());
    const fate decided = on_server_frame(message);
    if (decided == fate::forward) out.to_client.forward(view.substr(0, there));
    server_rest_ = message.total - there;
    server_rest_fate_ = decided;
    taken += there;
  }
  update_waits();
  return taken;
}

/// Rows and COPY data that come now are the client's.
bool engine_core::rows_pass() const {
  if (starting_ || queue_.empty()) return false;
  const expected_reply& entry = queue_.at(0);
  return entry.owner == reply_owner::client &&
         (entry.kind == reply_kind::query || entry.kind == reply_kind::execute);
}

bool engine_core::read_server_frame(std::string_view view, frame& out) {
  if (view.size() < protocol::header_bytes) return false;
  const std::size_t length = protocol::load_int32(view.data() + 1);
  if (length < 4 || length > 0x7fffffffU) {
    out_->close = close_reason::server_protocol_violation;
    return false;
  }
  out.tag = view[0];
  out.total = length + 1;
  if (view.size() < out.total && out.total <= max_whole_server_bytes && looked_at_whole(out.tag)) {
    server_wanted_ = out.total;
    return false;
  }
  out.whole = view.size() >= out.total;
  out.body = view.substr(protocol::header_bytes, std::min(out.total, view.size()) - protocol::header_bytes);
  return true;
}

engine_core::fate engine_core::on_server_frame(const frame& message) {
  if (starting_) return on_startup_server_frame(message);
  switch (message.tag) {
  case backend::notice_response: return on_notice(message);
  case backend::notification_response: release_command_complete(); return fate::forward;
  case backend::parameter_status:
    release_command_complete();
    on_parameter_status(message.body);
    return fate::forward;
  case backend::error_response: return on_error(message);
  case backend::ready_for_query: return on_ready_for_query(message);
  default: return on_reply(message);
  }
}

engine_core::fate engine_core::on_startup_server_frame(const frame& message) {
  switch (message.tag) {
  case backend::authentication:
    authentication_asks_ = protocol::authentication_asks(message.body).value_or(true);
    break;
  case backend::backend_key_data: out_->backend_key = message.body; break;
  case backend::parameter_status: on_parameter_status(message.body); break;
  case backend::ready_for_query:
    starting_ = false;
    status_ = protocol::decode_ready_for_query(message.body).value_or('I');
    break;
  default: break;
  }
  return fate::forward;
}

void engine_core::on_parameter_status(std::string_view body) {
  const auto parameter = protocol::decode_parameter_status(body);
  if (!parameter) return;
  if (parameter->name == "standard_conforming_strings") {
    reading_.standard_conforming_strings = parameter->value == "on";
  } else if (parameter->name == "client_encoding") {
    client_utf8_ = parameter->value == "UTF8";
    reading_.utf8_safe_encoding = !sql::encoding_hides_ascii(parameter->value);
  } else if (parameter->name == "server_encoding") {
    server_utf8_ = parameter->value == "UTF8";
  }
  reading_.utf8 = client_utf8_ && server_utf8_;
}

// While the server reads COPY data it eats Syncs, up to the first CopyDone or CopyFail.
void engine_core::on_copy_response() {
  queue_.front().copying_in = true;
  copy_in_open_ = true;
  for (std::size_t i = 1; i < queue_.size(); ++i) {
    expected_reply& entry = queue_.at(i);
    if (entry.kind == reply_kind::copy_end) copy_in_open_ = false;
    if (entry.kind != reply_kind::sync) break; // behind the end of the data, or it ends the connection
    entry.maybe_eaten = true;
    entry.surely_eaten = !entry.behind_data;
    batch_goes_on_ = true;
  }
  for (std::size_t i = 1; i < queue_.size(); ++i)
    if (queue_.at(i).kind == reply_kind::sync && !queue_.at(i).maybe_eaten) batch_goes_on_ = false;
  if (batch_goes_on_ && batch_.open) batch_.bound = true;
}

engine_core::fate engine_core::on_ready_for_query(const frame& message) {
  settle_front(message.tag);
  const auto letter = message.whole ? protocol::decode_ready_for_query(message.body) : std::nullopt;
  if (queue_.empty() || !letter) return mismatch();
  expected_reply entry = std::move(queue_.front());
  const bool ends_here =
      entry.kind == reply_kind::query || entry.kind == reply_kind::function_call ||
      entry.kind == reply_kind::sync ||
      (entry.kind == reply_kind::as_extended && (entry.failed || entry.step == as_extended_done));
  if (!ends_here) return mismatch();
  status_ = *letter;
  drop_front();
  state_moved_ = false;
  if (entry.maybe_eaten) {
    // One of these Syncs was not eaten, so the last one may be the one that is never answered.
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      if (queue_.at(i).kind == reply_kind::copy_end) continue;
      if (queue_.at(i).kind == reply_kind::sync) queue_.at(i).maybe_eaten = true;
      break;
    }
  }
  if (status_ == 'I') {
    forget_pin();
    forget_under_hold();
    const bool session_idle = idle() && !batch_.open;
    if (session_idle) {
      savepoint_maybe_ = false;
      if (std::exchange(observed_, false)) out_->notes.emplace_back().what = note::kind::observed_end;
      portals_.clear(); // not at an earlier ReadyForQuery: portals of messages on their way are still to come
    }
    forget_level(session_idle);
  }
  switch (entry.purpose) {
  case reply_purpose::leave_failed:
  case reply_purpose::fail_again:
  case reply_purpose::hold_acquire:
    if (--envelope_.remaining == 0) finish_envelope();
    return fate::discard;
  case reply_purpose::hold_release: finish_release(entry); return fate::discard;
  case reply_purpose::learn_default: default_asked_ = false; return fate::discard;
  case reply_purpose::run_first:
  case reply_purpose::examine_level:
  case reply_purpose::examine_read_only:
  case reply_purpose::prove_hold:
  case reply_purpose::prove_pin:
  case reply_purpose::prove_snapshot:
    if (--envelope_.remaining == 0) finish_inquiry(entry.purpose == reply_purpose::prove_snapshot);
    return fate::discard;
  case reply_purpose::hold_with_pin: return fate::discard;
  case reply_purpose::pin:
    if (entry.kind != reply_kind::as_extended) {
      if (entry.step == 1) --pins_in_flight_;
      return fate::discard;
    }
    --pins_in_flight_;
    if (!entry.failed) out_->to_client.inject(held_command_complete_);
    break;
  case reply_purpose::none:
  case reply_purpose::refuse:
  case reply_purpose::tidy: break;
  }
  pin_error_sent_ = false;
  return finish_client_ready(status_);
}

/// The client's ReadyForQuery: it goes out now, or is held back until a session-level hold has been given
/// back, so that nobody sees the lock after this client was told that it is done.
engine_core::fate engine_core::finish_client_ready(char status) {
  if (status != 'I') return fate::forward;
  const bool catalog = wait_for_catalog();
  if (hold_.releasing > 0 && !batch_.open) {
    if (!only_releases_outstanding()) return fate::forward;
    ++ready_held_;
    return fate::discard;
  } else if (hold_.any() && idle() && !batch_.open && client_rest_ == 0) {
    inject_release();
    ++ready_held_;
    return fate::discard;
  }
  if (!catalog) return fate::forward;
  ++ready_held_;
  return fate::discard;
}

void engine_core::update_waits() {
  bool over = false;
  switch (wait_) {
  case wait_for::nothing:
  case wait_for::envelope:
  case wait_for::catalog:
  case wait_for::control_row: return;
  case wait_for::startup: over = authentication_asks_ || !starting_; break;
  case wait_for::idle: over = idle() || copy_in_open_ || batch_goes_on_; break;
  case wait_for::base: over = base_known() || copy_in_open_; break;
  case wait_for::room: over = queue_.size() < 1024; break;
  }
  if (!over) return;
  wait_ = wait_for::nothing;
  out_->resume_client = true;
}

bool engine_core::leftovers_only(std::size_t count) const {
  for (std::size_t i = 0; i < std::min(count, queue_.size()); ++i) {
    const expected_reply& entry = queue_.at(i);
    if (entry.kind != reply_kind::copy_end && !entry.maybe_eaten) return false;
  }
  return true;
}

/// Nothing of the client's, that is.
bool engine_core::only_releases_outstanding() const {
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const expected_reply& entry = queue_.at(i);
    const bool leftover = entry.kind == reply_kind::copy_end || entry.maybe_eaten;
    if (entry.purpose != reply_purpose::hold_release && !leftover) return false;
  }
  return true;
}

bool engine_core::idle() const { return leftovers_only(queue_.size()); }

bool engine_core::base_known() const {
  return !batch_.open || leftovers_only(batch_.base_outstanding) || batch_goes_on_ ||
         !keeps(gate_rule::known_state);
}

bool engine_core::replies_outstanding() const { return starting_ || !idle() || skipping_ || batch_.open; }

bool engine_core::awaits_client() const {
  return starting_ ? authentication_asks_ : skipping_ || batch_.open || copy_in_open_;
}

bool engine_core::pinned() const {
  return pin_known_ != pin_strength::none || hold_.any() || hold_.releasing > 0 || pins_in_flight_ > 0;
}

} // namespace ledgergate::gate
