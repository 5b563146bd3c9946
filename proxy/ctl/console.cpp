#include "proxy/ctl/console.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>

namespace ledgergate::ctl {
namespace {

// Control sequences of ECMA-48, as every terminal of the last thirty years knows them.
constexpr std::string_view clear_to_line_end = "\x1b[K";
constexpr std::string_view clear_to_screen_end = "\x1b[J";
constexpr std::string_view plain_again = "\x1b[0m";

std::string_view sequence_of(style look) {
  switch (look) {
  case style::plain: return {};
  case style::strong: return "\x1b[1m";
  case style::faint: return "\x1b[2m";
  case style::good: return "\x1b[32m";
  case style::warning: return "\x1b[33m";
  case style::bad: return "\x1b[31m";
  }
  return {};
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; }

/// The first `columns` characters; takes off `columns` what it used.
std::string_view cut(std::string_view text, std::size_t& columns) {
  std::size_t end = 0;
  while (end < text.size()) {
    if (begins_character(text[end])) {
      if (columns == 0) break;
      --columns;
    }
    ++end;
  }
  return text.substr(0, end);
}

constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

void append(std::string& target, const line& content, bool colours, std::size_t columns) {
  for (const span& piece : content) {
    const std::string_view text = cut(piece.text, columns);
    const std::string_view sequence = colours ? sequence_of(piece.look) : std::string_view();
    if (text.empty() || sequence.empty()) {
      target += text;
    } else {
      target.append(sequence).append(text).append(plain_again);
    }
  }
}

} // namespace

void print(console& terminal, const page& content, overflow wide) {
  const bool cuts = wide == overflow::cut && terminal.out_is_terminal;
  const std::size_t columns = cuts ? terminal.size().columns : no_limit;
  std::string text;
  for (const line& one : content) {
    append(text, one, terminal.colours, columns);
    text += '\n';
  }
  terminal.out << text << std::flush;
}

live_page::~live_page() {
  // What the terminal echoed for Ctrl-C stands on the line of the cursor.
  if (lines_shown_ > 0) terminal_.out << '\r' << clear_to_line_end << std::flush;
}

void live_page::show(const page& content) {
  const terminal_size size = terminal_.size();
  // The line with the cursor stays free, so that the page never scrolls by itself.
  const std::size_t rows = std::max<std::size_t>(size.rows, 2) - 1;
  const std::size_t lines = std::min(content.size(), rows);
  std::string text = "\r";
  if (lines_shown_ > 0) text += "\x1b[" + std::to_string(std::min(lines_shown_, rows)) + 'A';
  for (std::size_t i = 0; i < lines; ++i) {
    append(text, content[i], terminal_.colours, size.columns);
    text.append(clear_to_line_end).append("\n");
  }
  text += clear_to_screen_end;
  terminal_.out << text << std::flush;
  lines_shown_ = lines;
}

} // namespace ledgergate::ctl
