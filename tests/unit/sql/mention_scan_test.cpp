#include "proxy/sql/mention_scan.hpp"

#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/naive_mention.hpp"
#include "tests/support/seeded_random.hpp"

namespace ledgergate::sql {
namespace {

constexpr auto anywhere = mention_bounds::anywhere;
constexpr auto whole_word = mention_bounds::whole_word;

TEST(MentionScan, FindsNameWhateverTheCaseAndTheSurroundings) {
  const mention_scanner scanner({{"led", anywhere, 1}});
  for (const char* text :
       {"led", "LED", "select * from Led", "x.\"led\"", "/* led */", "'led'", "bledx", "-- led\n"}) {
    EXPECT_EQ(scanner.find(text), 1U) << text;
    EXPECT_TRUE(scanner.any(text)) << text;
  }
}

TEST(MentionScan, FindsNothingWhereNothingIs) {
  const mention_scanner scanner({{"led", anywhere, 1}});
  for (const char* text : {"", "l", "le", "l ed", "le\"d",
                           "l\xC3\xA9"
                           "d",
                           "LE", "d led"}) {
    EXPECT_EQ(scanner.find(text), text == std::string_view("d led") ? 1U : 0U) << text;
  }
}

TEST(MentionScan, FoldsAsciiOnly) {
  // Bytes that differ from a letter or a digit in the same bit as upper and lower case do.
  const mention_scanner scanner({{"a_0@[", anywhere, 1}});
  EXPECT_EQ(scanner.find("A_0@["), 1U);
  EXPECT_EQ(scanner.find("a\x7F"
                         "0@["),
            0U);
  EXPECT_EQ(scanner.find("a_\x10@["), 0U);
  EXPECT_EQ(scanner.find("a_0`["), 0U);
  EXPECT_EQ(scanner.find("a_0@{"), 0U);
}

TEST(MentionScan, WholeWordIsNotFoundInsideAWord) {
  const mention_scanner scanner({{"do", whole_word, 1}});
  for (const char* text : {"do", "DO $$x$$", ";do'x'", "(do)", "$do$", "a-do+b"})
    EXPECT_EQ(scanner.find(text), 1U) << text;
  for (const char* text : {"done", "undo", "window", "_do", "do_", "do1", "1do",
                           "\xC3\xA9"
                           "do",
                           "do\xC3\xA9"}) {
    EXPECT_EQ(scanner.find(text), 0U) << text;
  }
}

TEST(MentionScan, WordIsNotFoundBeforeAnExcludedWord) {
  const mention_scanner scanner({{"do", whole_word, 1, {"nothing", "update"}}});
  for (const char* text : {"do nothing", "DO\n NOTHING returning 1", "do update set", "do nothing;"}) {
    EXPECT_EQ(scanner.find(text), 0U) << text;
  }
  for (const char* text :
       {"do", "do ", "do nothingness", "do update_x", "do /**/ nothing", "do nothing; do $$$$"}) {
    EXPECT_EQ(scanner.find(text), 1U) << text;
  }
}

TEST(MentionScan, ReportsEveryKindOnce) {
  const mention_scanner scanner(
      {{"alpha", anywhere, 1}, {"beta", anywhere, 2}, {"alphabet", anywhere, 4}, {"x", anywhere, 8}});
  EXPECT_EQ(scanner.find("alphabet alphabet"), 5U);
  EXPECT_EQ(scanner.find("beta, alpha"), 3U);
  EXPECT_EQ(scanner.find("x"), 8U);
  EXPECT_EQ(scanner.find("betax"), 10U);
}

TEST(MentionScan, FindsNameAtEveryOffset) {
  const mention_scanner scanner({{"kudos_ledger", anywhere, 1}, {"do", whole_word, 2}});
  for (std::size_t before = 0; before < 70; ++before) {
    for (std::size_t after = 0; after < 40; ++after) {
      const std::string blank_before(before, ' ');
      const std::string blank_after(after, ' ');
      ASSERT_EQ(scanner.find(blank_before + "Kudos_Ledger" + blank_after), 1U) << before << ' ' << after;
      ASSERT_EQ(scanner.find(blank_before + "dO" + blank_after), 2U) << before << ' ' << after;
    }
  }
}

TEST(MentionScan, ReadsNothingBehindTheText) {
  const mention_scanner scanner({{"ledger", anywhere, 1}});
  for (std::size_t size = 0; size < 100; ++size) {
    // A block of the exact size, so that the address sanitizer sees one byte too many.
    const auto exact = std::make_unique<char[]>(size);
    std::fill_n(exact.get(), size, 'l');
    EXPECT_EQ(scanner.find({exact.get(), size}), 0U);
  }
  const std::string text = "ledger";
  EXPECT_EQ(scanner.find(std::string_view(text).substr(0, 5)), 0U);
}

std::vector<mention_pattern> random_patterns(std::mt19937& random) {
  const std::string alphabet = "abAB_d\"&u0\xC3";
  std::vector<mention_pattern> patterns;
  const std::size_t count = 1 + random() % 24;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    const std::size_t size = 1 + random() % 7;
    while (text.size() < size)
      text += alphabet[random() % alphabet.size()];
    mention_pattern pattern{text, random() % 3 == 0 ? whole_word : anywhere, mention_mask{1} << i};
    if (random() % 8 == 0) pattern.unless_before = {"ab"};
    patterns.push_back(pattern);
  }
  return patterns;
}

TEST(MentionScan, AgreesWithTheNaiveSearchOnRandomTexts) {
  const std::uint32_t seed = test::chosen_seed();
  std::mt19937 random(seed);
  const std::string alphabet = "abABd_ D\"&uU0\xC3;\n";
  for (int round = 0; round < 400; ++round) {
    const auto patterns = random_patterns(random);
    const mention_scanner scanner(patterns);
    for (int sample = 0; sample < 40; ++sample) {
      std::string text;
      const std::size_t size = random() % 90;
      while (text.size() < size)
        text += alphabet[random() % alphabet.size()];
      const mention_mask expected = test::naive_find(patterns, text);
      ASSERT_EQ(scanner.find(text), expected) << "text [" << text << ']';
      ASSERT_EQ(scanner.any(text), expected != 0) << "text [" << text << ']';
    }
  }
}

} // namespace
} // namespace ledgergate::sql
