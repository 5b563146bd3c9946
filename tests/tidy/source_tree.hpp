// The project's own text files, as the tidy rules see them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ledgergate::tidy {

struct source_file {
  std::string path;               ///< from the root, with `/`
  std::vector<std::string> lines; ///< as they stand
  std::vector<std::string>
      code; ///< C++ only: the same lines with comments and the contents of literals blanked

  bool is_cpp() const { return path.ends_with(".cpp") || path.ends_with(".hpp"); }
  bool is_header() const { return path.ends_with(".hpp"); }
  bool is_in(std::string_view folder) const { return path.starts_with(std::string(folder) + "/"); }
};

/// What a rule has to say: `path:line: text`.
struct finding {
  std::string path;
  std::size_t line = 0; ///< from 1
  std::string text;
};

/// A file from its text.
source_file make_source_file(std::string path, std::string_view text);

/// Every text file below `root` that is written by hand: no build folders, corpora, or packages of others.
/// Sorted by path.
std::vector<source_file> read_source_tree(const std::string& root);

/// `lines` without comments and without the contents of string and character literals; columns stay where
/// they are.
std::vector<std::string> blank_comments_and_literals(const std::vector<std::string>& lines);

} // namespace ledgergate::tidy
