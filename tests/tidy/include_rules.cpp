// Which folder may include what: one row for each library, as the READMEs of the folders say.
#include <algorithm>
#include <string_view>

#include "tests/tidy/rules.hpp"

namespace ledgergate::tidy {

namespace {

using names = std::vector<std::string_view>;

struct folder_rule {
  std::string_view folder;
  names own;       ///< folders or headers of the project, beside the folder itself
  names libraries; ///< beginnings of third-party headers
  bool posix;      ///< operating-system headers
};

const std::vector<folder_rule>& folder_rules() {
  static const std::vector<folder_rule> rules = {
      {"protocol", {}, {"boost/system/"}, false},
      {"config", {}, {"boost/system/"}, false},
      {"proxy/sql", {"config"}, {"boost/system/", "boost/json"}, false},
      {"proxy/catalog", {"config", "proxy/sql"}, {}, false},
      {"proxy/gate", {"protocol", "config", "proxy/sql"}, {"boost/system/"}, false},
      {"proxy/transition", {"config"}, {"boost/system/"}, false},
      {"proxy/tls", {"config"}, {"boost/system/", "openssl/"}, true},
      {"proxy/net", {}, {"boost/asio/", "boost/system/", "openssl/"}, true},
      {"proxy/observe", {"config", "proxy/gate"}, {"prometheus/"}, false},
      {"proxy/session",
       {"protocol", "config", "proxy/gate", "proxy/net", "proxy/observe", "proxy/tls"},
       {"boost/system/"},
       true},
      {"proxy/control",
       {"proxy/transition", "proxy/catalog", "proxy/sql", "config", "proxy/observe"},
       {"boost/asio/", "boost/system/", "boost/uuid/", "libpq-fe.h"},
       false},
      {"proxy/admin",
       {"proxy/transition", "proxy/observe", "proxy/net", "config", "proxy/session/session_registry.hpp",
        "proxy/session/session_info.hpp", "proxy/catalog", "proxy/gate/explanation.hpp"},
       {"boost/asio/", "boost/beast/", "boost/json", "boost/system/", "openssl/"},
       true},
      {"proxy/ctl",
       {"proxy/net", "config/build_information.hpp"},
       {"boost/asio/", "boost/beast/", "boost/json", "boost/system/", "boost/program_options", "libpq-fe.h"},
       true},
      {"proxy/app",
       {"protocol", "config", "proxy/sql", "proxy/gate", "proxy/transition", "proxy/tls", "proxy/net",
        "proxy/observe", "proxy/session", "proxy/control", "proxy/catalog", "proxy/admin"},
       {"boost/asio/", "boost/system/", "boost/program_options"},
       true},
  };
  return rules;
}

/// A header that only these files may include, whatever their folder may.
struct file_rule {
  std::string_view header;
  names files; ///< paths, or endings of paths when they begin with `*`
};

const std::vector<file_rule>& file_rules() {
  static const std::vector<file_rule> rules = {
      {"pg_query.h", {"proxy/sql/parse.cpp"}},
      {"yaml-cpp/", {"config/document.cpp"}},
      {"libpq-fe.h", {"config/dsn.cpp", "proxy/control/*", "proxy/ctl/install_command.cpp"}},
      {"spdlog/", {"proxy/observe/*.cpp"}},
      // Reading an address and the length a socket's path may have; nothing is opened.
      {"arpa/inet.h", {"config/endpoint.cpp", "proxy/net/*"}},
      {"sys/un.h", {"config/endpoint.cpp", "proxy/net/*", "proxy/admin/*", "proxy/app/service_manager.cpp"}},
      // Compiler intrinsics of the byte search.
      {"tmmintrin.h", {"proxy/sql/mention_scan.cpp"}},
      {"emmintrin.h", {"proxy/sql/word_scan.cpp"}},
      {"boost/asio.hpp", {}},
      {"boost/beast.hpp", {}},
      {"boost/asio/impl/src.hpp", {"proxy/net/asio_impl.cpp"}},
  };
  return rules;
}

constexpr std::string_view posix_folders[] = {"sys/", "netinet/", "arpa/", "linux/", "net/"};
constexpr std::string_view posix_headers[] = {"unistd.h",  "fcntl.h",  "time.h",    "netdb.h",
                                              "poll.h",    "signal.h", "pthread.h", "sched.h",
                                              "termios.h", "pwd.h",    "grp.h",     "syslog.h"};
constexpr std::string_view source_roots[] = {"protocol", "config", "proxy"};

template <typename Range>
bool starts_with_any(std::string_view text, const Range& beginnings) {
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](auto b) { return text.starts_with(b); });
}

bool is_posix(std::string_view header) {
  return starts_with_any(header, posix_folders) ||
         std::find(std::begin(posix_headers), std::end(posix_headers), header) != std::end(posix_headers);
}

bool is_standard(std::string_view header) {
  return header.find('/') == std::string_view::npos && !header.ends_with(".h") && !header.ends_with(".hpp");
}

bool matches(std::string_view path, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return path == pattern;
  return path.starts_with(pattern.substr(0, star)) && path.ends_with(pattern.substr(star + 1));
}

/// 1: a rule names this file. 0: a rule names others. -1: there is no rule for this header.
int file_rule_says(std::string_view path, std::string_view header) {
  for (const file_rule& rule : file_rules()) {
    const bool is_folder = rule.header.ends_with('/');
    if (is_folder ? !header.starts_with(rule.header) : header != rule.header) continue;
    return std::any_of(rule.files.begin(), rule.files.end(), [&](auto f) { return matches(path, f); }) ? 1
                                                                                                       : 0;
  }
  return -1;
}

const folder_rule* rule_of(const source_file& file) {
  for (const folder_rule& rule : folder_rules())
    if (file.is_in(rule.folder)) return &rule;
  return nullptr;
}

bool may_include_own(const folder_rule& rule, std::string_view header) {
  const auto is_below = [&](std::string_view place) {
    return header == place || header.starts_with(std::string(place) + "/");
  };
  return is_below(rule.folder) || std::any_of(rule.own.begin(), rule.own.end(), is_below);
}

std::string problem_of(const source_file& file, std::string_view header, bool quoted) {
  const folder_rule* rule = rule_of(file);
  const std::string name = '`' + std::string(header) + '`';
  const int file_rule = file_rule_says(file.path, header);
  if (file_rule == 0 && (rule != nullptr || header.ends_with(".hpp")))
    return name + " may not be included here";
  if (!quoted) {
    const bool own = std::any_of(std::begin(source_roots), std::end(source_roots),
                                 [&](auto root) { return header.starts_with(std::string(root) + "/"); });
    if (own) return name + " is the project's own: write it in quotes";
    if (rule == nullptr || file_rule == 1 || is_standard(header)) return {};
    if (is_posix(header) ? rule->posix : starts_with_any(header, rule->libraries)) return {};
    return name + " may not be included in " + std::string(rule->folder);
  }
  if (rule == nullptr) {
    if (header.find('/') == std::string_view::npos) return name + " is not written from the root";
    return {};
  }
  if (may_include_own(*rule, header)) return {};
  return name + " may not be included in " + std::string(rule->folder);
}

} // namespace

void check_includes(const source_file& file, findings& out) {
  if (!file.is_cpp()) return;
  if (file.is_header() &&
      std::none_of(file.lines.begin(), file.lines.end(), [](auto& l) { return l == "#pragma once"; }))
    out.push_back({file.path, 1, "a header without `#pragma once`"});
  const bool is_source = starts_with_any(file.path, source_roots);
  if (is_source && rule_of(file) == nullptr)
    out.push_back({file.path, 1, "a folder that no include rule knows"});
  for (std::size_t i = 0; i < file.code.size(); ++i) {
    const std::string_view line = file.code[i];
    if (!line.starts_with("#include ")) continue;
    const std::size_t open = line.find_first_of("\"<");
    const std::size_t close = open == std::string_view::npos ? open : line.find_first_of("\">", open + 1);
    if (close == std::string_view::npos) continue;
    const std::string problem = problem_of(file, line.substr(open + 1, close - open - 1), line[open] == '"');
    if (!problem.empty()) out.push_back({file.path, i + 1, problem});
  }
}

} // namespace ledgergate::tidy
