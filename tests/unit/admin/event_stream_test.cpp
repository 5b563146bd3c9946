// Watching a transition by server-sent events: the feed, who subscribes, and the connection that carries it.
#include "tests/unit/admin/running_server.hpp"

#include "proxy/admin/transition_feeds.hpp"

namespace ledgergate::admin {
namespace {

using transition::transition_state;

TEST(EventFeed, NumbersItsEventsAndGivesThemOnce) {
  event_feed feed;
  feed.push("a", {{"x", "line\nbreak"}});
  feed.push("b", {});
  EXPECT_EQ(feed.take(), "event: a\nid: 1\ndata: {\"x\":\"line\\nbreak\"}\n\nevent: b\nid: 2\ndata: {}\n\n");
  EXPECT_EQ(feed.take(), "");
}

TEST(EventFeed, DropsAReaderThatDoesNotKeepUp) {
  event_feed feed;
  const boost::json::object big{{"x", std::string(100'000, 'x')}};
  for (int i = 0; i < 5; ++i)
    feed.push("a", big);
  EXPECT_FALSE(feed.dropped());
  feed.push("a", big);
  EXPECT_TRUE(feed.dropped());
  EXPECT_EQ(feed.take(), "") << "what waited is given up";
  feed.push("a", {});
  EXPECT_EQ(feed.take(), "");
}

TEST(TransitionFeeds, TellThoseWhoWatchThisTransitionUntilItsEnd) {
  transition_feeds feeds;
  auto record = planned_record({});
  auto other = record;
  other.id = "other";
  const auto mine = feeds.subscribe(record, {});
  const auto others = feeds.subscribe(other, {});
  EXPECT_EQ(feeds.readers(), 2u);
  mine->take();
  others->take();
  record.state = transition_state::queued;
  feeds.publish(record, {});
  EXPECT_NE(mine->take().find("\"state\":\"queued\""), std::string::npos);
  EXPECT_EQ(others->take(), "");
  record.state = transition_state::unknown;
  feeds.publish(record, {});
  EXPECT_FALSE(mine->finished()) << "unknown resolves by itself";
  record.state = transition_state::committed;
  feeds.publish(record, {});
  EXPECT_TRUE(mine->finished());
  EXPECT_NE(mine->take().find("\"state\":\"committed\""), std::string::npos);
}

TEST(TransitionFeeds, ForgetReadersThatAreGone) {
  transition_feeds feeds;
  const auto record = planned_record({});
  feeds.subscribe(record, {});
  EXPECT_EQ(feeds.readers(), 0u);
}

std::string watch_request(const std::string& id) {
  return get_request("/v1/transitions/" + id, "Accept: text/event-stream\r\n");
}

class EventStream : public testing::Test {
 protected:
  EventStream() {
    server_.on_admin_thread([&] { server_.backend.history = {record_}; });
  }

  void publish(transition_state state) {
    record_.state = state;
    server_.on_admin_thread([&] { server_.feeds.publish(record_, server_.backend.time); });
  }

  transition::transition_record record_ = planned_record({});
  running_server server_{{.event_silence = std::chrono::milliseconds(20)}};
};

TEST_F(EventStream, TellsEveryStateAndEndsWithTheLast) {
  raw_client client(server_);
  client.send(watch_request(record_.id));
  EXPECT_NE(client.read_until("\"state\":\"planned\"").find("Content-Type: text/event-stream"),
            std::string::npos);
  publish(transition_state::queued);
  client.read_until("\"state\":\"queued\"");
  client.read_until("\n:\n\n"); // a sign of life while nothing happens
  publish(transition_state::committed);
  client.read_until("\"state\":\"committed\"");
  EXPECT_NE(client.read_until_closed().find("\n\n"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return server_.connection_count() == 0; }));
}

TEST_F(EventStream, OfOneThatHasEndedSaysSoAndEnds) {
  record_.state = transition_state::aborted;
  server_.on_admin_thread([&] { server_.backend.history = {record_}; });
  raw_client client(server_);
  client.send(watch_request(record_.id));
  EXPECT_NE(client.read_until_closed().find("\"state\":\"aborted\""), std::string::npos);
}

TEST_F(EventStream, OfAnUnknownTransitionIsAnOrdinaryRefusal) {
  raw_client client(server_);
  client.send(watch_request("no-such-id"));
  EXPECT_EQ(client.read_response().result_int(), 404u);
}

TEST_F(EventStream, EndsWhenTheReaderLeaves) {
  {
    raw_client client(server_);
    client.send(watch_request(record_.id));
    client.read_until("planned");
  }
  EXPECT_TRUE(eventually([&] { return server_.connection_count() == 0; }));
  std::size_t readers = 1;
  server_.on_admin_thread([&] { readers = server_.feeds.readers(); });
  EXPECT_EQ(readers, 0u);
}

TEST_F(EventStream, DropsAReaderThatReadsNothing) {
  raw_client client(server_);
  client.send(watch_request(record_.id));
  client.read_until("planned");
  record_.message = std::string(100'000, 'm');
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 20; ++i)
      publish(transition_state::queued);
    return server_.connection_count() == 0;
  }));
}

TEST_F(EventStream, GivesWayToNewConnectionsWhenAllAreTaken) {
  running_server small({.connections = 1});
  small.on_admin_thread([&] { small.backend.history = {record_}; });
  raw_client watcher(small);
  watcher.send(watch_request(record_.id));
  watcher.read_until("planned");
  raw_client other(small);
  EXPECT_EQ(other.exchange(get_request("/livez")).result_int(), 200u);
}

TEST_F(EventStream, EndsWithTheServer) {
  raw_client client(server_);
  client.send(watch_request(record_.id));
  client.read_until("planned");
  server_.stop();
  client.read_until_closed();
  EXPECT_EQ(server_.connection_count(), 0u);
}

} // namespace
} // namespace ledgergate::admin
