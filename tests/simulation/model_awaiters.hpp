// The three places where a backend stops: it reads, it is somewhere inside a statement, it waits for a lock.
#pragma once

#include "tests/simulation/model_backend.hpp"

namespace ledgergate::simulation {

struct model_backend::next_message {
  model_backend& self;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> here) const noexcept {
    self.resume_ = here;
    self.state_ = doing::reading;
  }
  incoming await_resume() const { return self.take_message(); }
};

/// A cancel that came in the meantime ends the statement.
struct model_backend::pause {
  model_backend& self;
  bool await_ready() const noexcept { return self.chance_ == nullptr || !self.chance_->one_in(3); }
  void await_suspend(std::coroutine_handle<> here) const noexcept {
    self.resume_ = here;
    self.state_ = doing::thinking;
  }
  outcome await_resume() const {
    if (!self.cancelled_) return std::nullopt;
    self.cancelled_ = false;
    return model_error{"57014", "canceling statement due to user request"};
  }
};

struct model_backend::lock_wait {
  model_backend& self;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> here) const noexcept {
    self.resume_ = here;
    self.state_ = doing::locking;
  }
  void await_resume() const noexcept {}
};

} // namespace ledgergate::simulation
