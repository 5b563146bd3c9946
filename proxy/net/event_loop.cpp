#include "proxy/net/event_loop.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ledgergate::net {

namespace {

constexpr std::size_t events_per_turn = 256;

} // namespace

event_loop::event_loop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      fetched_(events_per_turn) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = nullptr;
  if (!epoll_ || !wake_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "event loop");
  }
}

event_loop::~event_loop() = default;

void event_loop::run() {
  for (;;) {
    const int count =
        ::epoll_wait(epoll_.get(), fetched_.data(), static_cast<int>(fetched_.size()), wait_milliseconds());
    fetched_count_ = std::max(count, 0);
    bool woken = false;
    for (int i = 0; i < fetched_count_; ++i) {
      const epoll_event event = fetched_[static_cast<std::size_t>(i)];
      if (event.events == 0) continue; // its watcher was removed in this turn
      if (event.data.ptr == nullptr) {
        woken = true;
        continue;
      }
      static_cast<watcher*>(event.data.ptr)->on_events(event.events);
    }
    fetched_count_ = 0;
    run_resumables();
    if (!timers_.empty()) run_timers();
    disposed_.clear();
    if (woken) {
      run_posted();
      disposed_.clear();
      const std::lock_guard lock(posted_mutex_);
      if (!stopping_ || !posted_.empty()) continue;
      stopping_ = false;
      return;
    }
  }
}

void event_loop::stop() {
  {
    const std::lock_guard lock(posted_mutex_);
    stopping_ = true;
  }
  wake();
}

void event_loop::post(std::function<void()> task) {
  bool first = false;
  {
    const std::lock_guard lock(posted_mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(task));
  }
  if (first) wake();
}

void event_loop::wake() {
  // The counter is never read: edge-triggered, each write is an event of its own.
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

bool event_loop::watch(int fd, std::uint32_t events, watcher& who) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.ptr = &who;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void event_loop::change(int fd, std::uint32_t events, watcher& who) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.ptr = &who;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void event_loop::unwatch(int fd, watcher& who) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  for (int i = 0; i < fetched_count_; ++i) {
    epoll_event& event = fetched_[static_cast<std::size_t>(i)];
    if (event.data.ptr == &who) event.events = 0;
  }
}

void event_loop::resume_later(resumable& what) {
  if (std::find(resumables_.begin(), resumables_.end(), &what) == resumables_.end()) {
    resumables_.push_back(&what);
  }
}

void event_loop::forget(resumable& what) {
  std::erase(resumables_, &what);
  std::replace(resuming_.begin(), resuming_.end(), &what, static_cast<resumable*>(nullptr));
}

void event_loop::dispose(std::unique_ptr<disposable> what) { disposed_.push_back(std::move(what)); }

int event_loop::wait_milliseconds() const {
  if (!resumables_.empty()) return 0;
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first - clock::now();
  // Rounded up, so that the loop does not spin through the last millisecond.
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<decltype(milliseconds)>(milliseconds, 0, 3'600'000));
}

void event_loop::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(posted_mutex_);
    tasks.swap(posted_);
  }
  for (const auto& task : tasks)
    task();
}

void event_loop::run_timers() {
  const auto now = clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    timer& due = *timers_.begin()->second;
    due.cancel();
    due.on_expiry_();
  }
}

void event_loop::run_resumables() {
  resuming_.swap(resumables_);
  for (std::size_t i = 0; i < resuming_.size(); ++i) {
    if (resuming_[i] != nullptr) resuming_[i]->on_resume();
  }
  resuming_.clear();
}

timer::timer(event_loop& loop, std::function<void()> on_expiry)
    : loop_(loop), on_expiry_(std::move(on_expiry)) {}

timer::~timer() { cancel(); }

void timer::expire_after(event_loop::clock::duration delay) {
  cancel();
  position_ = loop_.timers_.emplace(event_loop::clock::now() + delay, this);
  armed_ = true;
}

void timer::cancel() {
  if (!armed_) return;
  loop_.timers_.erase(position_);
  armed_ = false;
}

} // namespace ledgergate::net
