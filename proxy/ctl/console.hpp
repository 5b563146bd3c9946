// The operator's terminal, or whatever stands in its place: streams, their properties, time and interruption.
// The commands use nothing else of the process, so that a test can stand in for all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace ledgergate::ctl {

enum class style { plain, strong, faint, good, warning, bad };

/// A piece of text in one style, without control characters.
struct span {
  std::string text;
  enum style look = style::plain;
};

using line = std::vector<span>;
using page = std::vector<line>;

struct terminal_size {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

struct console {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool colours = false; ///< of `out`
  std::function<terminal_size()> size;
  std::function<bool()> interrupted; ///< Ctrl-C was pressed
  /// Waits; ends early when interrupted.
  std::function<void(std::chrono::milliseconds)> pause;
  std::function<std::chrono::steady_clock::time_point()> now;
  /// From here on Ctrl-C sets `interrupted`; before, at the prompt, it ends the program.
  std::function<void()> catch_interrupts;
};

/// What becomes of a line that is wider than the terminal: sentences are wrapped by the terminal, tables are
/// cut.
enum class overflow { wrap, cut };

/// Writes the page below what is there. Where the output is no terminal, nothing is cut.
void print(console& terminal, const page& content, overflow wide = overflow::wrap);

/// A page on a terminal that is drawn over again in its own place, in one write, without clearing first:
/// nothing flickers. What does not fit is cut. The last page stays on the screen.
class live_page {
 public:
  explicit live_page(console& terminal) : terminal_(terminal) {}
  live_page(const live_page&) = delete;
  live_page& operator=(const live_page&) = delete;
  ~live_page();

  void show(const page& content);

 private:
  console& terminal_;
  std::size_t lines_shown_ = 0;
};

} // namespace ledgergate::ctl
