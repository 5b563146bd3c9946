#include "proxy/net/event_loop.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "tests/unit/net/sockets.hpp"

namespace ledgergate::net {
namespace {

TEST(EventLoop, RunsPostedTasksInOrderOnItsOwnThread) {
  event_loop loop;
  std::vector<int> ran;
  std::thread::id where;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      loop.post([&ran, &where, i] {
        ran.push_back(i);
        where = std::this_thread::get_id();
      });
    }
  });
  EXPECT_TRUE(test::run_until(loop, [&] { return ran.size() == 100; }));
  other.join();
  EXPECT_EQ(where, std::this_thread::get_id());
  for (std::size_t i = 0; i < ran.size(); ++i)
    EXPECT_EQ(ran[i], static_cast<int>(i));
}

TEST(EventLoop, RunsWhatWasPostedBeforeStop) {
  event_loop loop;
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.stop();
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(EventLoop, FiresTimersInTheOrderOfTheirDeadlines) {
  event_loop loop;
  std::vector<int> fired;
  timer late(loop, [&] { fired.push_back(2); });
  timer early(loop, [&] { fired.push_back(1); });
  timer cancelled(loop, [&] { fired.push_back(3); });
  late.expire_after(std::chrono::milliseconds(20));
  cancelled.expire_after(std::chrono::milliseconds(10));
  early.expire_after(std::chrono::milliseconds(5));
  cancelled.cancel();
  EXPECT_TRUE(test::run_until(loop, [&] { return fired.size() == 2; }));
  EXPECT_EQ(fired, (std::vector<int>{1, 2}));
  EXPECT_FALSE(late.armed());
}

TEST(EventLoop, ATimerThatIsArmedAgainFiresOnce) {
  event_loop loop;
  int fired = 0;
  timer again(loop, [&] { ++fired; });
  timer after(loop, [] {});
  again.expire_after(std::chrono::hours(1));
  again.expire_after(std::chrono::milliseconds(1));
  after.expire_after(std::chrono::milliseconds(10));
  EXPECT_TRUE(test::run_until(loop, [&] { return !after.armed(); }));
  EXPECT_EQ(fired, 1);
}

struct counting_resumable final : event_loop::resumable {
  int resumed = 0;
  void on_resume() override { ++resumed; }
};

TEST(EventLoop, ResumesOncePerTurnHoweverOftenAsked) {
  event_loop loop;
  counting_resumable wanted;
  counting_resumable forgotten;
  loop.post([&] {
    loop.resume_later(wanted);
    loop.resume_later(wanted);
    loop.resume_later(forgotten);
    loop.forget(forgotten);
  });
  EXPECT_TRUE(test::run_until(loop, [&] { return wanted.resumed > 0; }));
  EXPECT_EQ(wanted.resumed, 1);
  EXPECT_EQ(forgotten.resumed, 0);
}

struct pipe_watcher final : event_loop::watcher {
  int events = 0;
  std::function<void()> then;
  void on_events(std::uint32_t) override {
    ++events;
    if (then) then();
  }
};

TEST(EventLoop, DropsFetchedEventsOfAWatcherThatWasRemovedInTheSameTurn) {
  event_loop loop;
  int first[2];
  int second[2];
  ASSERT_EQ(::pipe(first), 0);
  ASSERT_EQ(::pipe(second), 0);
  pipe_watcher one;
  pipe_watcher two;
  // Whichever comes first removes the other, so exactly one of two events that are fetched together may
  // arrive.
  one.then = [&] { loop.unwatch(second[0], two); };
  two.then = [&] { loop.unwatch(first[0], one); };
  ASSERT_EQ(::write(first[1], "x", 1), 1);
  ASSERT_EQ(::write(second[1], "x", 1), 1);
  ASSERT_TRUE(loop.watch(first[0], EPOLLIN, one));
  ASSERT_TRUE(loop.watch(second[0], EPOLLIN, two));
  EXPECT_TRUE(test::run_until(loop, [&] { return one.events + two.events > 0; }));
  EXPECT_EQ(one.events + two.events, 1);
  for (const int fd : {first[0], first[1], second[0], second[1]})
    ::close(fd);
}

struct self_disposing final : event_loop::disposable {
  explicit self_disposing(bool& gone) : gone_(gone) {}
  ~self_disposing() override { gone_ = true; }
  bool& gone_;
};

TEST(EventLoop, DestroysDisposedThingsAfterTheTurn) {
  event_loop loop;
  bool gone = false;
  bool gone_within = true;
  loop.post([&] {
    loop.dispose(std::make_unique<self_disposing>(gone));
    gone_within = gone;
  });
  EXPECT_TRUE(test::run_until(loop, [&] { return gone; }));
  EXPECT_FALSE(gone_within);
}

} // namespace
} // namespace ledgergate::net
