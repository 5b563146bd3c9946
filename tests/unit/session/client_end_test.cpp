#include "proxy/session/client_end.hpp"

#include <gtest/gtest.h>

namespace ledgergate::session {
namespace {

using namespace std::chrono_literals;
using net::peer_fate;

/// A client whose every byte was read and handed on.
client_end_facts all_done(peer_fate fate) {
  client_end_facts facts;
  facts.fate = fate;
  facts.all_read = true;
  facts.all_forwarded = true;
  return facts;
}

TEST(ClientEnd, CancelsAtOnceForAClientThatIsGoneInTheMiddle) {
  client_end_facts facts = all_done(peer_fate::gone);
  facts.replies_outstanding = true;
  EXPECT_EQ(decide_client_end(facts), client_end_step::cancel_and_close);
  facts.all_read = false;
  facts.all_forwarded = false;
  EXPECT_EQ(decide_client_end(facts), client_end_step::cancel_and_close);
}

TEST(ClientEnd, LetsAClientThatSaidGoodbyeFinishForAMoment) {
  client_end_facts facts = all_done(peer_fate::gone);
  facts.replies_outstanding = true;
  facts.terminated = true;
  EXPECT_EQ(decide_client_end(facts), client_end_step::wait);
  facts.since_end = 1s;
  EXPECT_EQ(decide_client_end(facts), client_end_step::cancel_and_close);
}

TEST(ClientEnd, GivesAHalfClosedClientItsFullAnswerFirst) {
  client_end_facts facts = all_done(peer_fate::half_closed);
  facts.replies_outstanding = true;
  facts.pinned = true;
  facts.since_end = 1h;
  EXPECT_EQ(decide_client_end(facts), client_end_step::wait);
  facts.replies_outstanding = false;
  EXPECT_EQ(decide_client_end(facts), client_end_step::shut_server);
}

TEST(ClientEnd, SendsOnTheFinOfAHalfClosedClientWhoseBatchWillNeverBeSynced) {
  client_end_facts facts = all_done(peer_fate::half_closed);
  facts.replies_outstanding = true;
  facts.awaits_client = true;
  EXPECT_EQ(decide_client_end(facts), client_end_step::shut_server);
}

TEST(ClientEnd, SendsOnAHalfClosedRawClientsFinAtOnce) {
  client_end_facts facts = all_done(peer_fate::half_closed);
  facts.raw = true;
  EXPECT_EQ(decide_client_end(facts), client_end_step::shut_server);
}

TEST(ClientEnd, ForwardsEverythingBeforeTheFin) {
  client_end_facts facts = all_done(peer_fate::half_closed);
  facts.all_forwarded = false;
  EXPECT_EQ(decide_client_end(facts), client_end_step::wait);
  facts.all_forwarded = true;
  facts.all_read = false;
  EXPECT_EQ(decide_client_end(facts), client_end_step::wait);
}

TEST(ClientEnd, ClosesForAClientThatIsGoneWithNothingOutstanding) {
  client_end_facts facts = all_done(peer_fate::gone);
  EXPECT_EQ(decide_client_end(facts), client_end_step::close);
  facts.raw = true;
  EXPECT_EQ(decide_client_end(facts), client_end_step::close);
}

TEST(ClientEnd, GivesTheLastBytesOfALostClientLimitedTime) {
  client_end_facts facts = all_done(peer_fate::gone);
  facts.all_forwarded = false;
  EXPECT_EQ(decide_client_end(facts), client_end_step::wait);
  facts.since_end = 2s;
  EXPECT_EQ(decide_client_end(facts), client_end_step::close);
}

TEST(ClientEnd, NeverLetsAClientInDoubtKeepAPinForASecond) {
  client_end_facts facts = all_done(peer_fate::unknown);
  facts.replies_outstanding = true;
  facts.pinned = true;
  EXPECT_EQ(decide_client_end(facts), client_end_step::wait);
  facts.since_end = 1s - client_end_interval;
  EXPECT_EQ(decide_client_end(facts), client_end_step::cancel_and_close);
}

TEST(ClientEnd, TreatsAClientInDoubtWithoutAPinAsHalfClosed) {
  client_end_facts facts = all_done(peer_fate::unknown);
  facts.replies_outstanding = true;
  facts.since_end = 1h;
  EXPECT_EQ(decide_client_end(facts), client_end_step::wait);
}

TEST(ClientEnd, ClosesAfterGoodbyeWithNothingOutstanding) {
  client_end_facts facts = all_done(peer_fate::half_closed);
  facts.terminated = true;
  EXPECT_EQ(decide_client_end(facts), client_end_step::close);
}

} // namespace
} // namespace ledgergate::session
