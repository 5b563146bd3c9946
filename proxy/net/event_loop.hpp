// The event loop of one data-plane worker: edge-triggered epoll, a hand-over queue, timers. Everything but
// post() and stop() is called from the thread that runs it.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proxy/net/unique_fd.hpp"

namespace ledgergate::net {

class timer;

class event_loop {
 public:
  using clock = std::chrono::steady_clock;

  /// Receives the epoll events of one descriptor.
  class watcher {
   public:
    virtual void on_events(std::uint32_t events) = 0;

   protected:
    ~watcher() = default;
  };

  /// Work that was cut off to be fair to others and goes on in the next turn.
  class resumable {
   public:
    virtual void on_resume() = 0;

   protected:
    ~resumable() = default;
  };

  /// Something that may not be destroyed while its own callback runs.
  class disposable {
   public:
    virtual ~disposable() = default;
  };

  /// Throws std::system_error when the kernel gives no epoll or event descriptor: a set-up error.
  event_loop();
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// Runs until stop(), and may be run again. What was posted before stop() is still run.
  void run();
  /// From any thread.
  void stop();
  /// Runs `task` on the loop's thread. From any thread.
  void post(std::function<void()> task);

  /// Shared by the TLS connections of this loop, which use it one after the other; empty until there is one.
  struct tls_scratch {
    std::vector<char> received; ///< ciphertext, for the duration of a read
    std::string sealed;         ///< ciphertext, for the duration of a write
  };
  tls_scratch& tls() { return tls_; }

  /// Registers a descriptor once, edge-triggered. `events` without EPOLLET, which is added. False: errno says
  /// why.
  bool watch(int fd, std::uint32_t events, watcher&);
  void change(int fd, std::uint32_t events, watcher&);
  /// Before the descriptor is closed. Events of it that were already fetched are dropped.
  void unwatch(int fd, watcher&);

  /// Calls on_resume() in the next turn, once, however often it was asked for.
  void resume_later(resumable&);
  void forget(resumable&);

  /// Destroys it after the events of this turn.
  void dispose(std::unique_ptr<disposable>);

 private:
  friend class timer;
  using timer_map = std::multimap<clock::time_point, timer*>;

  void wake();
  int wait_milliseconds() const;
  void run_posted();
  void run_timers();
  void run_resumables();

  tls_scratch tls_;
  unique_fd epoll_;
  unique_fd wake_;
  std::vector<epoll_event> fetched_;
  int fetched_count_ = 0;
  timer_map timers_;
  std::vector<resumable*> resumables_;
  std::vector<resumable*> resuming_;
  std::vector<std::unique_ptr<disposable>> disposed_;

  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_; ///< guarded by posted_mutex_
  bool stopping_ = false;                     ///< guarded by posted_mutex_
};

/// One deadline. Lives on the loop's thread, cancels itself when it is destroyed.
class timer {
 public:
  timer(event_loop& loop, std::function<void()> on_expiry);
  ~timer();
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  /// Replaces an earlier deadline.
  void expire_after(event_loop::clock::duration);
  void cancel();
  bool armed() const { return armed_; }

 private:
  friend class event_loop;
  event_loop& loop_;
  std::function<void()> on_expiry_;
  event_loop::timer_map::iterator position_;
  bool armed_ = false;
};

} // namespace ledgergate::net
