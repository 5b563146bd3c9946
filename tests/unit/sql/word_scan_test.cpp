#include "proxy/sql/word_scan.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace ledgergate::sql {
namespace {

mention_mask find(const std::vector<std::string>& names, std::string_view text) {
  std::vector<word_scanner::name> all;
  for (std::size_t i = 0; i < names.size(); ++i)
    all.push_back({names[i], mention_mask{1} << i});
  return word_scanner(std::move(all)).find(text);
}

TEST(WordScan, FindsWholeWordsInAnyCase) {
  EXPECT_EQ(find({"post_list"}, "select * from post_list"), 1U);
  EXPECT_EQ(find({"post_list"}, "POST_LIST"), 1U);
  EXPECT_EQ(find({"Post_List"}, "select 1 from app.\"post_list\"where"), 1U);
  EXPECT_EQ(find({"post_list"}, "$$post_list$$"), 1U);
}

TEST(WordScan, ALongerWordIsAnotherWord) {
  EXPECT_EQ(find({"post_list"}, "post_lists"), 0U);
  EXPECT_EQ(find({"post_list"}, "my_post_list"), 0U);
  EXPECT_EQ(find({"post_list"}, "xpost_list"), 0U);
  EXPECT_EQ(find({"post_list"}, "post_list\xC3\xA9"), 0U);
  EXPECT_EQ(find({"post_list"}, "post_lis"), 0U);
}

TEST(WordScan, ANameMayGoOnBehindItsFirstWord) {
  EXPECT_EQ(find({"Post List"}, "select 1 from \"Post List\""), 1U);
  EXPECT_EQ(find({"Post List"}, "select 1 from \"Post Lists\""), 0U);
  EXPECT_EQ(find({"post-"}, "\"post-haste\""), 1U);
}

TEST(WordScan, ANameThatTheServerCutsIsFoundInLongerOnes) {
  const std::string cut(63, 'n');
  EXPECT_EQ(find({cut}, cut + "_and_more"), 1U);
  EXPECT_EQ(find({std::string(20, 'n')}, cut), 0U);
}

TEST(WordScan, SaysWhichOfSeveral) {
  EXPECT_EQ(find({"alpha", "beta_view", "gamma"}, "beta_view, gamma"), 6U);
}

TEST(WordScan, TakesOnlyNamesWhoseFirstFourBytesAreOneWord) {
  EXPECT_TRUE(word_scanner::may_take("abcd"));
  EXPECT_FALSE(word_scanner::may_take("abc"));
  EXPECT_FALSE(word_scanner::may_take("ab cd"));
  EXPECT_FALSE(word_scanner::may_take("==="));
}

TEST(WordScan, WithoutNamesThereIsNothing) { EXPECT_EQ(word_scanner().find("anything"), 0U); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

mention_mask find_slowly(const std::vector<std::string>& names, const std::string& text) {
  mention_mask found = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t at = text.find(names[i]); at != std::string::npos; at = text.find(names[i], at + 1)) {
      const std::size_t end = at + names[i].size();
      if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
        found |= mention_mask{1} << i;
    }
  }
  return found;
}

TEST(WordScan, AgreesWithALookAtEveryPosition) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string letters = "ab_ .(";
  const auto text_of = [&](std::size_t size, std::size_t kinds) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i)
      text += letters[random() % kinds];
    return text;
  };
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i)
      names.push_back(text_of(4 + random() % 3, 3));
    const std::string text = text_of(random() % 80, letters.size());
    ASSERT_EQ(find(names, text), find_slowly(names, text)) << text;
  }
}

} // namespace
} // namespace ledgergate::sql
