#include "tests/tidy/source_tree.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace ledgergate::tidy {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 15> text_endings = {".cpp", ".hpp",  ".py",   ".sql", ".cmake",
                                                           ".md",  ".conv", ".yaml", ".yml", ".in",
                                                           ".txt", ".sh",   ".java", ".mjs", ".toml"};

bool is_text(const fs::path& file) {
  const std::string name = file.filename().string();
  // Scripts without an ending are named after what they do: tests/run, deploy/quickstart.
  if (file.extension().empty()) return name.front() != '.';
  return std::any_of(text_endings.begin(), text_endings.end(),
                     [&](auto ending) { return name.ends_with(ending); });
}

bool is_skipped(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name == ".git" || name == "node_modules" || name == "__pycache__" || name == "corpus" ||
         name == "crashes" || name == ".pytest_cache" || name.starts_with("build");
}

/// Blanks one text, remembering across lines whether it is inside a comment or a raw string.
class blanker {
 public:
  std::string line(std::string_view in) {
    std::string out(in);
    for (at_ = 0; at_ < in.size();)
      step(in, out);
    if (state_ == state::line_comment || state_ == state::quoted) state_ = state::code;
    return out;
  }

 private:
  enum class state { code, line_comment, comment, quoted, raw };

  void step(std::string_view in, std::string& out) {
    const std::string_view rest = in.substr(at_);
    switch (state_) {
    case state::code: code(in, rest, out); return;
    case state::line_comment: blank(out, 1); return;
    case state::comment:
      if (rest.starts_with("*/"))
        state_ = state::code, blank(out, 2);
      else
        blank(out, 1);
      return;
    case state::quoted:
      if (rest[0] == '\\')
        blank(out, std::min<std::size_t>(2, rest.size()));
      else if (rest[0] == quote_)
        state_ = state::code, ++at_;
      else
        blank(out, 1);
      return;
    case state::raw:
      if (rest.starts_with(raw_end_))
        state_ = state::code, at_ += raw_end_.size();
      else
        blank(out, 1);
      return;
    }
  }

  void code(std::string_view in, std::string_view rest, std::string& out) {
    if (rest.starts_with("//")) {
      state_ = state::line_comment;
    } else if (rest.starts_with("/*")) {
      state_ = state::comment;
      blank(out, 2);
    } else if (rest.starts_with("R\"")) {
      const std::size_t open = rest.find('(');
      raw_end_ = ")" + std::string(rest.substr(2, open == std::string_view::npos ? 0 : open - 2)) + "\"";
      state_ = state::raw;
      at_ += open == std::string_view::npos ? rest.size() : open + 1;
    } else if (rest[0] == '"' || (rest[0] == '\'' && !is_digit_separator(in))) {
      quote_ = rest[0];
      state_ = state::quoted;
      ++at_;
    } else {
      ++at_;
    }
  }

  bool is_digit_separator(std::string_view in) const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(in[at_ - 1])) != 0;
  }

  void blank(std::string& out, std::size_t count) {
    for (std::size_t i = 0; i < count && at_ < out.size(); ++i)
      out[at_++] = ' ';
  }

  state state_ = state::code;
  char quote_ = '"';
  std::string raw_end_;
  std::size_t at_ = 0;
};

} // namespace

std::vector<std::string> blank_comments_and_literals(const std::vector<std::string>& lines) {
  blanker text;
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    // The name in an include is no literal here: the rules read it.
    const bool is_include = line.starts_with("#include");
    std::string blanked = text.line(is_include ? std::string_view{} : line);
    out.push_back(is_include ? line : std::move(blanked));
  }
  return out;
}

source_file make_source_file(std::string path, std::string_view text) {
  source_file file;
  file.path = std::move(path);
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);)
    file.lines.push_back(line);
  if (file.is_cpp()) file.code = blank_comments_and_literals(file.lines);
  return file;
}

std::vector<source_file> read_source_tree(const std::string& root) {
  std::vector<source_file> files;
  fs::recursive_directory_iterator at(root);
  for (; at != fs::recursive_directory_iterator(); ++at) {
    if (at->is_directory() && is_skipped(at->path())) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file() && is_text(at->path())) {
      std::ifstream in(at->path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      files.push_back(make_source_file(fs::relative(at->path(), root).generic_string(), text));
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

} // namespace ledgergate::tidy
