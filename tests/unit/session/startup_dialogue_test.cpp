#include "proxy/session/startup_dialogue.hpp"

#include <gmock/gmock.h>

#include "tests/unit/session/data_plane_fixture.hpp"

namespace ledgergate::session {
namespace {

using kind = startup_step::kind;
using testing::HasSubstr;

const std::string ssl_request("\0\0\0\x08\x04\xd2\x16\x2f", 8);
const std::string gss_request("\0\0\0\x08\x04\xd2\x16\x30", 8);

TEST(StartupDialogue, WaitsUntilThePacketIsWhole) {
  startup_dialogue dialogue;
  const std::string packet = test::startup_packet("horde");
  for (std::size_t there = 0; there < packet.size(); ++there) {
    EXPECT_EQ(dialogue.next(std::string_view(packet).substr(0, there)).what, kind::need_more) << there;
  }
  const startup_step step = dialogue.next(packet);
  EXPECT_EQ(step.what, kind::startup);
  EXPECT_EQ(step.packet, packet);
  EXPECT_EQ(step.decoded.database, "horde");
}

TEST(StartupDialogue, LeavesWhatFollowsTheStartupMessage) {
  startup_dialogue dialogue;
  const std::string packet = test::startup_packet("horde");
  const std::string more = packet + "early";
  const startup_step step = dialogue.next(more);
  EXPECT_EQ(step.what, kind::startup);
  EXPECT_EQ(step.consumed, packet.size());
}

TEST(StartupDialogue, SaysNoToEncryptionAndGoesOn) {
  startup_dialogue dialogue;
  const startup_step no = dialogue.next(ssl_request);
  EXPECT_EQ(no.what, kind::answer);
  EXPECT_EQ(no.reply, "N");
  EXPECT_EQ(no.consumed, ssl_request.size());
  EXPECT_EQ(dialogue.next(gss_request).what, kind::answer);
  EXPECT_EQ(dialogue.next(test::startup_packet("horde")).what, kind::startup);
}

TEST(StartupDialogue, RefusesClearTextBehindAnEncryptionRequest) {
  for (const std::string& request : {ssl_request, gss_request}) {
    startup_dialogue dialogue;
    const startup_step step = dialogue.next(request + test::startup_packet("horde"));
    EXPECT_EQ(step.what, kind::refuse);
    EXPECT_EQ(step.reply[0], 'N');
    EXPECT_THAT(step.reply, HasSubstr("08P01"));
  }
}

startup_dialogue offering(tls_offer offer) {
  startup_dialogue made;
  made.offer_tls(offer);
  return made;
}

TEST(StartupDialogue, SaysYesToTlsWhereThereIsSome) {
  for (const tls_offer offer : {tls_offer::possible, tls_offer::required}) {
    startup_dialogue dialogue = offering(offer);
    const startup_step yes = dialogue.next(ssl_request);
    EXPECT_EQ(yes.what, kind::begin_tls);
    EXPECT_EQ(yes.reply, "S");
    EXPECT_EQ(yes.consumed, ssl_request.size());
    dialogue.secured();
    EXPECT_EQ(dialogue.next(test::startup_packet("horde")).what, kind::startup);
  }
}

TEST(StartupDialogue, ClosesWithoutAWordOnClearTextInFrontOfAHandshake) {
  startup_dialogue dialogue = offering(tls_offer::possible);
  const startup_step step = dialogue.next(ssl_request + test::startup_packet("horde"));
  EXPECT_EQ(step.what, kind::close);
  EXPECT_EQ(step.reply, "");
}

TEST(StartupDialogue, StillSaysNoToGssEncryptionWhereThereIsTls) {
  startup_dialogue dialogue = offering(tls_offer::required);
  EXPECT_EQ(dialogue.next(gss_request).reply, "N");
  EXPECT_EQ(dialogue.next(ssl_request).what, kind::begin_tls);
}

TEST(StartupDialogue, RefusesASessionInClearOnlyWhereTlsIsRequired) {
  startup_dialogue open = offering(tls_offer::possible);
  EXPECT_EQ(open.next(test::startup_packet("horde")).what, kind::startup);
  startup_dialogue strict = offering(tls_offer::required);
  const startup_step step = strict.next(test::startup_packet("horde"));
  EXPECT_EQ(step.what, kind::refuse);
  EXPECT_THAT(step.reply, HasSubstr("28000"));
}

TEST(StartupDialogue, TakesACancelRequestInClearAlsoWhereTlsIsRequired) {
  startup_dialogue dialogue = offering(tls_offer::required);
  EXPECT_EQ(dialogue.next(test::cancel_packet("1234abcd")).what, kind::cancel);
}

TEST(StartupDialogue, KnowsAHandshakeByItsFirstByteWhereThereIsTls) {
  startup_dialogue dialogue = offering(tls_offer::possible);
  EXPECT_EQ(dialogue.next("\x16").what, kind::direct_tls);
  startup_dialogue without;
  EXPECT_EQ(without.next({"\x16\3\1\2", 4}).what, kind::close);
  startup_dialogue asked = offering(tls_offer::possible);
  EXPECT_EQ(asked.next(gss_request).what, kind::answer);
  EXPECT_EQ(asked.next({"\x16\3\1\2", 4}).what, kind::close) << "not the first byte any more";
}

TEST(StartupDialogue, RefusesARequestForEncryptionInsideTls) {
  for (const std::string& request : {ssl_request, gss_request}) {
    startup_dialogue dialogue = offering(tls_offer::possible);
    dialogue.secured();
    const startup_step step = dialogue.next(request);
    EXPECT_EQ(step.what, kind::refuse);
    EXPECT_THAT(step.reply, HasSubstr("0A000"));
  }
}

TEST(StartupDialogue, RefusesASecondRequestForTheSameEncryption) {
  startup_dialogue dialogue;
  EXPECT_EQ(dialogue.next(ssl_request).what, kind::answer);
  const startup_step step = dialogue.next(ssl_request);
  EXPECT_EQ(step.what, kind::refuse);
  EXPECT_THAT(step.reply, HasSubstr("0A000"));
}

TEST(StartupDialogue, ClosesOnLengthsThatNoServerAccepts) {
  for (const std::uint32_t length : {0U, 3U, 4U, 7U, 1U << 20U, 0x7fffffffU, 0xffffffffU}) {
    startup_dialogue dialogue;
    std::string packet;
    for (int shift = 24; shift >= 0; shift -= 8)
      packet.push_back(static_cast<char>(length >> shift));
    EXPECT_EQ(dialogue.next(packet).what, kind::close) << length;
  }
}

TEST(StartupDialogue, PassesOtherProtocolVersionsOnToTheServer) {
  for (const std::uint32_t version : {2U << 16U, (3U << 16U) + 9999U, 4U << 16U}) {
    startup_dialogue dialogue;
    std::string packet = test::startup_packet("horde");
    for (std::size_t i = 0; i < 4; ++i)
      packet[4 + i] = static_cast<char>(version >> (24 - 8 * i));
    const startup_step step = dialogue.next(packet);
    EXPECT_EQ(step.what, kind::startup);
    EXPECT_EQ(step.decoded.version, version);
  }
}

TEST(StartupDialogue, AnswersAMalformedParameterListAsAServerDoes) {
  startup_dialogue dialogue;
  std::string packet = test::startup_packet("horde");
  packet.back() = 'x';
  const startup_step step = dialogue.next(packet);
  EXPECT_EQ(step.what, kind::refuse);
  EXPECT_THAT(step.reply, HasSubstr("08P01"));
}

TEST(StartupDialogue, TakesCancelKeysOfAnyLength) {
  for (const std::size_t length : {4U, 32U, 256U}) {
    startup_dialogue dialogue;
    const std::string packet = test::cancel_packet(std::string(4 + length, 'k'));
    const startup_step step = dialogue.next(packet);
    EXPECT_EQ(step.what, kind::cancel);
    EXPECT_EQ(step.packet, packet);
  }
}

TEST(StartupDialogue, DoesNotAnswerAMalformedCancelRequest) {
  startup_dialogue dialogue;
  const startup_step step = dialogue.next(test::cancel_packet(""));
  EXPECT_EQ(step.what, kind::close);
  EXPECT_EQ(step.reply, "");
}

} // namespace
} // namespace ledgergate::session
