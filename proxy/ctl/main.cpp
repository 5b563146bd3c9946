// The process around gatectl: real streams, the real terminal, Ctrl-C.
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>

#include "proxy/ctl/gatectl.hpp"

namespace {

using namespace ledgergate::ctl;

volatile sig_atomic_t interrupt_seen = 0;

/// The first Ctrl-C ends the watching in good order; a second one ends the process, whatever it does.
void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

terminal_size size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void sleep_unless_interrupted(std::chrono::milliseconds duration) {
  if (interrupt_seen != 0) return;
  const timespec time{duration.count() / 1000, duration.count() % 1000 * 1'000'000};
  ::nanosleep(&time, nullptr);
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

} // namespace

int main(int argc, char** argv) {
  try {
    const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
    console terminal{.out = std::cout,
                     .err = std::cerr,
                     .in = std::cin,
                     .in_is_terminal = ::isatty(STDIN_FILENO) == 1,
                     .out_is_terminal = out_is_terminal,
                     .colours = out_is_terminal && !variable("NO_COLOR"),
                     .size = size_of_terminal,
                     .interrupted = [] { return interrupt_seen != 0; },
                     .pause = sleep_unless_interrupted,
                     .now = [] { return std::chrono::steady_clock::now(); },
                     .catch_interrupts = catch_interrupts};
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return static_cast<int>(run_gatectl(arguments, variable, terminal));
  } catch (const std::exception& error) {
    // Nothing above throws on purpose; what does is a lack of memory or a bug, and it is not known what was
    // done.
    std::cerr << "gatectl: " << error.what() << '\n';
    return static_cast<int>(exit_code::unknown);
  }
}
