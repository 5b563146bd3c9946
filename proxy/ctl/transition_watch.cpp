#include "proxy/ctl/transition_watch.hpp"

#include <optional>
#include <ostream>

#include "proxy/ctl/render.hpp"
#include "proxy/ctl/report.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;
using std::chrono::seconds;
using time_point = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds look_interval{200};
constexpr seconds line_interval{1};
/// How long a sidecar that does not answer, or does not know the outcome, is asked again.
constexpr seconds patience{30};

class watch {
 public:
  watch(console& terminal, const admin_client& client, json::value transition, output_format format)
      : terminal_(terminal), client_(client), transition_(std::move(transition)), format_(format) {
    id_ = text_at(transition_, "/id").value_or("");
    if (format_ == output_format::text && terminal_.out_is_terminal) screen_.emplace(terminal_);
  }

  exit_code run() {
    while (true) {
      if (const auto over = judge()) return *over;
      show();
      terminal_.pause(look_interval);
      if (terminal_.interrupted()) return detach();
      if (const auto over = look()) return *over;
    }
  }

 private:
  std::string state() const { return text_at(transition_, "/state").value_or(""); }

  /// Empty while it goes on.
  std::optional<exit_code> judge() {
    if (state() == "committed") return finish(exit_code::done);
    if (state() == "aborted") {
      const bool rehearsed = text_at(transition_, "/result/outcome") == "rehearsed";
      return finish(rehearsed ? exit_code::done : exit_code::aborted);
    }
    if (state() != "unknown") {
      unknown_since_.reset();
      return std::nullopt;
    }
    if (!unknown_since_) unknown_since_ = terminal_.now();
    if (terminal_.now() - *unknown_since_ < patience) return std::nullopt;
    return finish(exit_code::unknown);
  }

  std::optional<exit_code> look() {
    const admin_result result = client_.get("/v1/transitions/" + id_);
    const auto* answer = std::get_if<admin_answer>(&result);
    if (answer != nullptr && answer->status == 200) {
      lost_since_.reset();
      trouble_.clear();
      transition_ = answer->body;
      return std::nullopt;
    }
    if (terminal_.interrupted()) return detach();
    if (answer != nullptr && answer->status == 404) return forgotten();
    trouble_ = answer == nullptr ? std::get<client_error>(result).message
                                 : text_at(answer->body, "/error/message").value_or("no answer");
    if (!lost_since_) lost_since_ = terminal_.now();
    if (terminal_.now() - *lost_since_ < patience) return std::nullopt;
    leave_screen();
    report(terminal_, trouble_,
           "the outcome is not known here; look at gatectl status when the sidecar is back");
    return exit_code::unknown;
  }

  void show() {
    if (screen_) {
      page content = render_progress(transition_);
      if (!trouble_.empty()) content.push_back({{trouble_ + "; trying again", style::bad}});
      content.push_back({{"Ctrl-C stops watching, not the transition", style::faint}});
      screen_->show(content);
      return;
    }
    show_line();
  }

  /// Not more often than there is something new, or a second has gone by.
  void show_line() {
    const json::array* attempts = array_at(transition_, "/attempts");
    const std::string stage =
        state() + (attempts == nullptr ? "" : ' ' + std::to_string(attempts->size())) + trouble_;
    const time_point now = terminal_.now();
    if (stage == stage_shown_ && now - shown_at_ < line_interval) return;
    stage_shown_ = stage;
    shown_at_ = now;
    std::ostream& target = format_ == output_format::json ? terminal_.err : terminal_.out;
    target << (trouble_.empty() ? progress_line(transition_) : trouble_ + "; trying again") << '\n'
           << std::flush;
  }

  /// The outcome takes the place of the progress.
  exit_code finish(exit_code code) {
    if (screen_) screen_->show({});
    leave_screen();
    if (format_ == output_format::json) {
      print_json(terminal_, transition_);
    } else {
      print(terminal_, render_outcome(transition_));
    }
    return code;
  }

  exit_code detach() {
    if (screen_) screen_->show(render_progress(transition_));
    leave_screen();
    report(terminal_, "stopped watching; the transition " + id_ + " goes on",
           "gatectl status -w shows it, and how it ended; gatectl cancel " + id_ + " ends it while it waits");
    return exit_code::unknown;
  }

  /// A sidecar that was restarted has lost its history; what the mode is now does not say who made it so.
  exit_code forgotten() {
    leave_screen();
    const admin_result result = client_.get("/v1/status");
    const auto* answer = std::get_if<admin_answer>(&result);
    const auto mode = answer != nullptr ? text_at(answer->body, "/ledger/mode") : std::nullopt;
    report(terminal_, "the sidecar no longer knows the transition " + id_ + ": it was restarted",
           mode ? "the mode is " + *mode + " now; the sidecar's log says how the transition ended"
                : "gatectl status shows the mode as soon as the sidecar can read it");
    return exit_code::unknown;
  }

  void leave_screen() { screen_.reset(); }

  console& terminal_;
  const admin_client& client_;
  json::value transition_;
  output_format format_;
  std::string id_;
  std::optional<live_page> screen_;
  std::optional<time_point> unknown_since_;
  std::optional<time_point> lost_since_;
  std::string trouble_;
  std::string stage_shown_;
  time_point shown_at_{};
};

} // namespace

exit_code watch_transition(console& terminal, const admin_client& client, json::value transition,
                           output_format format) {
  return watch(terminal, client, std::move(transition), format).run();
}

} // namespace ledgergate::ctl
