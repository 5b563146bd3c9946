#include "proxy/ctl/text.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "tests/unit/ctl/scripted_admin.hpp"

namespace ledgergate::ctl {
namespace {

TEST(DurationText, ShowsTheTwoLargestUnits) {
  EXPECT_EQ(duration_text(0), "0 ms");
  EXPECT_EQ(duration_text(999), "999 ms");
  EXPECT_EQ(duration_text(1000), "1.0 s");
  EXPECT_EQ(duration_text(59'999), "59.9 s");
  EXPECT_EQ(duration_text(60'000), "1 m 00 s");
  EXPECT_EQ(duration_text(3'599'999), "59 m 59 s");
  EXPECT_EQ(duration_text(3'600'000), "1 h 00 m");
  EXPECT_EQ(duration_text(86'400'000ll * 3 + 3'600'000ll * 5), "3 d 05 h");
}

TEST(HarmlessText, CannotCommandTheTerminal) {
  EXPECT_EQ(harmless("a\x1b[31mb\r\nc\x07\x7f"), "a [31mb  c  ");
  EXPECT_EQ(harmless("\xc2\x9b"
                     "31m"),
            " 31m");
  EXPECT_EQ(harmless("gr\xc3\xb6\xc3\x9f"
                     "er \xe2\x82\xac"),
            "gr\xc3\xb6\xc3\x9f"
            "er \xe2\x82\xac");
  EXPECT_EQ(harmless("\xc2"), "\xc2");
}

TEST(ShortenedText, CountsCharactersNotBytes) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdef", 5), "abcd~");
  EXPECT_EQ(shortened("\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6", 3), "\xc3\xb6\xc3\xb6~");
}

TEST(LookUps, AreEmptyForWhatIsAbsentNullOrOfAnotherType) {
  const auto value =
      boost::json::parse(R"({"a":{"text":"x\u001b","number":7,"null":null,"flag":true,"list":[1]}})");
  EXPECT_EQ(text_at(value, "/a/text"), "x ");
  EXPECT_EQ(number_at(value, "/a/number"), 7);
  EXPECT_TRUE(is_true_at(value, "/a/flag"));
  EXPECT_NE(array_at(value, "/a/list"), nullptr);
  EXPECT_NE(object_at(value, "/a"), nullptr);
  for (const char* pointer : {"/b", "/a/null", "/a/list", "/a/text/x", "/a"}) {
    EXPECT_FALSE(text_at(value, pointer)) << pointer;
    EXPECT_FALSE(number_at(value, pointer)) << pointer;
    EXPECT_FALSE(is_true_at(value, pointer)) << pointer;
  }
  EXPECT_EQ(array_at(value, "/a"), nullptr);
  EXPECT_EQ(object_at(value, "/a/list"), nullptr);
  EXPECT_FALSE(text_at(boost::json::value("text"), "/a"));
}

TEST(Table, AlignsItsColumns) {
  EXPECT_EQ(plain(table({{"PID", "NAME"}, {"1", "a"}, {"12345", "\xc3\xb6"}}, "  ")),
            "  PID    NAME\n  1      a\n  12345  \xc3\xb6\n");
}

TEST(LabelledSentence, BreaksBetweenWords) {
  const std::string words = "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg";
  EXPECT_EQ(
      plain(labelled_sentence("next", words)),
      "next        aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff\n            ggggggggg\n");
  EXPECT_EQ(plain(labelled_sentence("", "short")), "            short\n");
  EXPECT_EQ(plain(labelled_sentence("", std::string(100, 'x'))),
            std::string(12, ' ') + std::string(100, 'x') + '\n');
}

TEST(Print, CutsATableOnATerminalOnly) {
  test_console fixture;
  fixture.terminal.size = [] { return terminal_size{5, 30}; };
  print(fixture.terminal, {{{"abcdefgh"}}}, overflow::cut);
  EXPECT_EQ(fixture.out.str(), "abcdefgh\n");
  fixture.out.str("");
  fixture.terminal.out_is_terminal = true;
  print(fixture.terminal, {{{"abcdefgh"}}}, overflow::cut);
  print(fixture.terminal, {{{"abcdefgh"}}}, overflow::wrap);
  EXPECT_EQ(fixture.out.str(), "abcde\nabcdefgh\n");
}

TEST(LivePage, IsDrawnOverInItsPlace) {
  test_console fixture;
  {
    live_page screen(fixture.terminal);
    screen.show({{{"one"}}, {{"two"}}});
    EXPECT_EQ(fixture.out.str(), "\rone\x1b[K\ntwo\x1b[K\n\x1b[J");
    fixture.out.str("");
    screen.show({{{"three"}}});
    EXPECT_EQ(fixture.out.str(), "\r\x1b[2Athree\x1b[K\n\x1b[J");
    fixture.out.str("");
  }
  EXPECT_EQ(fixture.out.str(), "\r\x1b[K");
}

TEST(LivePage, IsCutToTheTerminal) {
  test_console fixture;
  fixture.terminal.size = [] { return terminal_size{5, 3}; };
  live_page screen(fixture.terminal);
  screen.show(
      {{{"abc"}, {"defg"}}, {{"\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6"}}, {{"does not fit"}}});
  EXPECT_EQ(fixture.out.str(), "\rabcde\x1b[K\n\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\x1b[K\n\x1b[J");
}

TEST(Print, ColoursOnlyWhereColoursAreWanted) {
  test_console fixture;
  print(fixture.terminal, {{{"bad", style::bad}, {" plain"}}});
  EXPECT_EQ(fixture.out.str(), "bad plain\n");
  fixture.out.str("");
  fixture.terminal.colours = true;
  print(fixture.terminal, {{{"bad", style::bad}, {" plain"}}});
  EXPECT_EQ(fixture.out.str(), "\x1b[31mbad\x1b[0m plain\n");
}

} // namespace
} // namespace ledgergate::ctl
