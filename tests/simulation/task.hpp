// A coroutine that runs when it is awaited and gives its caller one value. The model server is written with
// it: a statement that waits for a lock is suspended in the middle, with all its callers. Destroying the
// outermost task destroys them all, as a backend that is killed.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <optional>
#include <utility>

namespace ledgergate::simulation {

template <typename Value>
class [[nodiscard]] task {
 public:
  struct promise_type {
    std::coroutine_handle<> caller = std::noop_coroutine();
    std::optional<Value> value;

    task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct back_to_caller {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
          return done.promise().caller;
        }
        void await_resume() noexcept {}
      };
      return back_to_caller{};
    }
    void return_value(Value what) { value = std::move(what); }
    // Nothing in the model throws but what the standard library cannot recover from.
    void unhandled_exception() { std::abort(); }
  };

  task() = default;
  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    if (handle_) handle_.destroy();
    handle_ = std::exchange(other.handle_, nullptr);
    return *this;
  }
  ~task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  Value await_resume() { return std::move(*handle_.promise().value); }

  /// The outermost task is not awaited by anybody.
  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return !handle_ || handle_.done(); }

 private:
  explicit task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_ = nullptr;
};

} // namespace ledgergate::simulation
