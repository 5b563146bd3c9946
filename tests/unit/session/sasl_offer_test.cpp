#include "proxy/session/sasl_offer.hpp"

#include <gtest/gtest.h>

#include "tests/unit/session/data_plane_fixture.hpp"

namespace ledgergate::session {
namespace {

using test::message;

std::string offer_of(std::initializer_list<std::string_view> names) {
  std::string body("\0\0\0\x0a", 4);
  for (const std::string_view name : names)
    body.append(name).push_back('\0');
  body.push_back('\0');
  return message('R', body);
}

const std::string both = offer_of({"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"});
const std::string plain = offer_of({"SCRAM-SHA-256"});
const std::string ok = message('R', std::string(4, '\0'));
const std::string notice = message('N', "Mhello");
const std::string version = message('v', std::string(8, '\0'));

/// What comes out when `bytes` come in pieces of `size`.
std::string passed(offer_policy policy, const std::string& bytes, std::size_t size) {
  sasl_offer offer(policy);
  std::string out;
  bool over = false;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::string piece = bytes.substr(at, size);
    if (over) {
      out += piece;
    } else {
      over = offer.pass(piece, out);
    }
  }
  EXPECT_FALSE(offer.refused());
  return out;
}

TEST(SaslOffer, LosesTheMechanismThatBindsWhateverTheOrderAndThePieces) {
  for (const std::string& given : {both, offer_of({"SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"})}) {
    for (std::size_t size = 1; size <= given.size() + 4; ++size)
      EXPECT_EQ(passed(offer_policy::cut_binding, given + "more", size), plain + "more") << size;
  }
}

TEST(SaslOffer, IsLeftAsItIsWithoutSuchAMechanism) {
  for (const std::string& given : {plain, offer_of({"OTHER"}), offer_of({})})
    EXPECT_EQ(passed(offer_policy::cut_binding, given, 3), given);
}

TEST(SaslOffer, MayComeBehindANoticeAndTheProtocolVersion) {
  EXPECT_EQ(passed(offer_policy::cut_binding, version + notice + both, 7), version + notice + plain);
}

TEST(SaslOffer, IsNotLookedForBehindAnythingElse) {
  const std::string error = message('E', "whatever");
  for (const std::string& given : {ok, error})
    EXPECT_EQ(passed(offer_policy::cut_binding, given + both, given.size() + both.size()), given + both);
}

TEST(SaslOffer, OfAnImpossibleSizeIsLeftAsItIs) {
  const std::string huge("R\x7f\xff\xff\xff\0\0\0\x0a", 9);
  EXPECT_EQ(passed(offer_policy::cut_binding, huge, 9), huge);
  const std::string tiny("R\0\0\0\1", 5);
  EXPECT_EQ(passed(offer_policy::cut_binding, tiny + both, 50), tiny + both);
}

TEST(SaslOffer, IsRefusedWithTheMechanismThatBindsWhereThatCannotHold) {
  sasl_offer offer(offer_policy::refuse_binding);
  std::string out;
  EXPECT_FALSE(offer.pass(notice + both, out));
  EXPECT_TRUE(offer.refused());
  EXPECT_EQ(out, notice);
  EXPECT_EQ(passed(offer_policy::refuse_binding, plain, 4), plain);
}

} // namespace
} // namespace ledgergate::session
