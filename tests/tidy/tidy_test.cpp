// Reads the source tree and fails on what reviews should not have to look for. Each rule is first shown to
// find what it is for.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "tests/tidy/rules.hpp"

namespace ledgergate::tidy {
namespace {

using rule = void (*)(const source_file&, findings&);

findings found(rule check, const std::string& path, const std::string& text) {
  findings out;
  check(make_source_file(path, text), out);
  return out;
}

bool finds(rule check, const std::string& path, const std::string& text) {
  return !found(check, path, text).empty();
}

std::string include(const std::string& what) { return "#include " + what + "\n"; }

/// All findings of one rule in the whole tree, one a line.
std::string tree_findings(rule check) {
  static const std::vector<source_file> tree = read_source_tree(LEDGERGATE_SOURCE_DIR);
  findings all;
  for (const source_file& file : tree)
    check(file, all);
  std::ostringstream out;
  for (const finding& f : all)
    out << "\n" << f.path << ":" << f.line << ": " << f.text;
  return out.str();
}

TEST(IncludeRules, LowerFoldersDoNotIncludeHigherOnes) {
  EXPECT_TRUE(finds(check_includes, "protocol/reader.cpp", include("\"config/settings.hpp\"")));
  EXPECT_TRUE(finds(check_includes, "proxy/sql/parse.cpp", include("\"proxy/gate/actions.hpp\"")));
  EXPECT_TRUE(finds(check_includes, "proxy/gate/actions.cpp", include("\"proxy/net/listener.hpp\"")));
  EXPECT_TRUE(finds(check_includes, "proxy/transition/rows.cpp", include("\"proxy/sql/parse.hpp\"")));
  EXPECT_TRUE(finds(check_includes, "proxy/net/listener.cpp", include("\"proxy/session/session.hpp\"")));
  EXPECT_TRUE(finds(check_includes, "proxy/ctl/main.cpp", include("\"proxy/gate/actions.hpp\"")));
  EXPECT_TRUE(finds(check_includes, "proxy/session/session.cpp", include("\"proxy/app/application.hpp\"")));
  EXPECT_TRUE(
      finds(check_includes, "proxy/gate/actions.cpp", include("\"tests/support/seeded_random.hpp\"")));
  EXPECT_FALSE(finds(check_includes, "proxy/gate/actions.cpp", include("\"proxy/sql/classifier.hpp\"")));
  EXPECT_FALSE(finds(check_includes, "proxy/gate/actions.cpp", include("<vector>")));
}

TEST(IncludeRules, LibrariesStayInTheirFolders) {
  EXPECT_TRUE(finds(check_includes, "protocol/reader.cpp", include("<boost/asio/buffer.hpp>")));
  EXPECT_TRUE(finds(check_includes, "config/load.cpp", include("<yaml-cpp/yaml.h>")));
  EXPECT_TRUE(finds(check_includes, "proxy/sql/classifier.cpp", include("<pg_query.h>")));
  EXPECT_TRUE(finds(check_includes, "proxy/session/session.cpp", include("<libpq-fe.h>")));
  EXPECT_TRUE(
      finds(check_includes, "proxy/observe/log.hpp", "#pragma once\n" + include("<spdlog/spdlog.h>")));
  EXPECT_TRUE(finds(check_includes, "proxy/gate/actions.cpp", include("<sys/socket.h>")));
  EXPECT_TRUE(finds(check_includes, "proxy/net/listener.cpp", include("<boost/asio.hpp>")));
  EXPECT_FALSE(finds(check_includes, "config/document.cpp", include("<yaml-cpp/yaml.h>")));
  EXPECT_FALSE(finds(check_includes, "proxy/sql/parse.cpp", include("<pg_query.h>")));
  EXPECT_FALSE(finds(check_includes, "proxy/observe/log.cpp", include("<spdlog/spdlog.h>")));
  EXPECT_FALSE(finds(check_includes, "proxy/net/listener.cpp", include("<sys/socket.h>")));
}

TEST(IncludeRules, OwnHeadersAreWrittenFromTheRootAndGuarded) {
  EXPECT_TRUE(finds(check_includes, "tests/unit/gate/pin_plan_test.cpp", include("\"pin_plan.hpp\"")));
  EXPECT_TRUE(
      finds(check_includes, "tests/unit/gate/pin_plan_test.cpp", include("<proxy/gate/pin_plan.hpp>")));
  EXPECT_TRUE(finds(check_includes, "proxy/gate/pin_plan.hpp", "struct x;\n"));
  EXPECT_TRUE(finds(check_includes, "proxy/unknown/x.cpp", ""));
  EXPECT_FALSE(finds(check_includes, "proxy/gate/pin_plan.hpp", "// What it is.\n#pragma once\n"));
}

TEST(PureFolders, KnowNoClockThreadOrEnvironment) {
  EXPECT_TRUE(finds(check_pure_folders, "proxy/gate/x.cpp", "auto t = std::chrono::steady_clock::now();"));
  EXPECT_TRUE(finds(check_pure_folders, "protocol/x.cpp", "std::mutex m;"));
  EXPECT_TRUE(finds(check_pure_folders, "proxy/transition/x.cpp", "std::getenv(\"HOME\");"));
  EXPECT_FALSE(finds(check_pure_folders, "proxy/gate/x.cpp", "// libpq would say the same\n"));
  EXPECT_FALSE(finds(check_pure_folders, "proxy/net/x.cpp", "std::mutex m;"));
}

TEST(Sizes, LongFilesFunctionsAndLinesAreFound) {
  std::string long_body;
  for (int i = 0; i < 90; ++i)
    long_body += "  call();\n";
  EXPECT_TRUE(
      finds(check_sizes, "proxy/gate/x.cpp", "namespace a {\nvoid f(int x) {\n" + long_body + "}\n}\n"));
  EXPECT_TRUE(
      finds(check_sizes, "proxy/gate/x.cpp", "struct s {\n  int f() const {\n" + long_body + "  }\n};\n"));
  EXPECT_TRUE(finds(check_sizes, "deploy/x.py", "def f():\n" + long_body + "\nx = 1\n"));
  EXPECT_TRUE(finds(check_sizes, "proxy/gate/x.cpp", std::string(121, 'x') + "\n"));
  EXPECT_TRUE(finds(check_sizes, "proxy/gate/x.cpp", std::string(501, '\n')));
  EXPECT_FALSE(finds(check_sizes, "proxy/gate/x.cpp", "namespace a {\n" + long_body + "}\n"));
  EXPECT_FALSE(finds(check_sizes, "proxy/gate/x.cpp", "void f() {\n}\n" + long_body + "void g() {\n}\n"));
  EXPECT_FALSE(finds(check_sizes, "README.md", std::string(200, 'x') + "\n"));
}

TEST(Words, NotesToSelfAndForeignPathsAreFound) {
  EXPECT_TRUE(finds(check_words, "proxy/gate/x.cpp", std::string("// TO") + "DO: later\n"));
  EXPECT_TRUE(finds(check_words, "deploy/quickstart", std::string("# FIX") + "ME\n"));
  EXPECT_TRUE(finds(check_words, "README.md", std::string("see ../sha") + "red/design\n"));
  EXPECT_FALSE(finds(check_words, "README.md", "everything is shared work\n"));
}

TEST(Tests, SleepsAndSkipsAreFound) {
  EXPECT_TRUE(
      finds(check_tests, "tests/unit/net/x.cpp", std::string("std::this_thread::sleep") + "_for(1s);\n"));
  EXPECT_TRUE(finds(check_tests, "tests/pg/x.py", std::string("time.sle") + "ep(1)\n"));
  EXPECT_TRUE(finds(check_tests, "tests/pg/x.py", std::string("pytest.sk") + "ip()\n"));
  EXPECT_FALSE(finds(check_tests, "tests/pg/x.py", "a.do('SELECT pg_sleep(1)')\n"));
}

TEST(CoAwait, BracesAndLambdasInItsExpressionAreFound) {
  EXPECT_TRUE(finds(check_co_await, "proxy/net/x.cpp", "void f() { co_await g({.host = h}); }"));
  EXPECT_TRUE(
      finds(check_co_await, "proxy/net/x.cpp", "void f() { co_await spawn(ex, [s] { s->run(); }); }"));
  EXPECT_TRUE(finds(check_co_await, "proxy/net/x.cpp", "void f() { auto x = co_await g(options{}); }"));
  EXPECT_FALSE(finds(check_co_await, "proxy/net/x.cpp", "void f() { if (co_await g(x)) { h(); } }"));
  EXPECT_FALSE(finds(check_co_await, "proxy/net/x.cpp", "void f() { options o{}; co_await g(o); }"));
}

TEST(BlankedText, KeepsColumnsAndDropsCommentsAndLiterals) {
  const auto blanked =
      blank_comments_and_literals({"a /* b", "c */ d // e", "f(\"{\\\"\", '}');", "R\"x({)\" )x\";g"});
  EXPECT_EQ(blanked,
            (std::vector<std::string>{"a     ", "     d     ", "f(\"   \", ' ');", "R\"x(    )x\";g"}));
}

TEST(SourceTree, IncludesPointDownwardsOnly) { EXPECT_EQ(tree_findings(check_includes), ""); }

TEST(SourceTree, PureFoldersArePure) { EXPECT_EQ(tree_findings(check_pure_folders), ""); }

TEST(SourceTree, NothingIsTooLong) { EXPECT_EQ(tree_findings(check_sizes), ""); }

TEST(SourceTree, HoldsNoNotesToSelfAndNoForeignPaths) { EXPECT_EQ(tree_findings(check_words), ""); }

TEST(SourceTree, TestsNeitherSleepNorSkip) { EXPECT_EQ(tree_findings(check_tests), ""); }

TEST(SourceTree, CoAwaitExpressionsAreSafe) { EXPECT_EQ(tree_findings(check_co_await), ""); }

TEST(SourceTree, IsReadAtAll) {
  const auto tree = read_source_tree(LEDGERGATE_SOURCE_DIR);
  const auto has = [&](const std::string& path) {
    return std::any_of(tree.begin(), tree.end(), [&](const source_file& file) { return file.path == path; });
  };
  EXPECT_TRUE(has("proxy/gate/pin_plan.cpp"));
  EXPECT_TRUE(has("tests/run"));
  EXPECT_TRUE(has("tests/tidy/tidy_test.cpp"));
}

} // namespace
} // namespace ledgergate::tidy
