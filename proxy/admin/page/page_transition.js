// The transition that runs, or the last one that ended.
import { $, duration, element, holderColumns, holderRows, resultOf, say, table } from "./page_view.js";

const waits = new Set(["planned", "waiting_applier", "waiting_quiet", "queued"]);
const states = {
  planned: "planned",
  waiting_applier: "waits for the applier",
  waiting_quiet: "looks before it queues",
  queued: "queued, writers wait",
  holding: "holds the gate",
};
const clockNames = {
  deadline: "Until the deadline",
  queue: "Writers wait, at most",
  hold: "Holds the gate, at most",
};

let running = []; // {clock, seen, text, bar}

export const isCancellable = (record) => record !== null && waits.has(record.state);

function showClocks(record) {
  const clocks = Object.entries(record.clocks ?? {}).filter(([, clock]) => clock !== null);
  const names = clocks.map(([name]) => name).join();
  if ($("clocks").dataset.names !== names) {
    $("clocks").dataset.names = names;
    running = clocks.map(([name]) => {
      const text = element("span");
      const bar = element("progress", { max: 1, value: 1, "aria-label": clockNames[name] });
      const box = element(
        "div",
        { className: "clock" },
        element("div", {}, element("span", { textContent: clockNames[name] }), text),
        bar,
      );
      return { text, bar, box };
    });
    $("clocks").replaceChildren(...running.map((each) => each.box));
  }
  clocks.forEach(([, clock], at) => Object.assign(running[at], { clock, seen: performance.now() }));
  tickClocks();
}

/** Called often: the clocks run between two events. */
export function tickClocks() {
  for (const { clock, seen, text, bar } of running) {
    const left = Math.max(0, clock.left_ms - (performance.now() - seen));
    text.textContent = `${(left / 1000).toFixed(1)} s of ${duration(clock.total_ms)}`;
    bar.value = clock.total_ms ? left / clock.total_ms : 0;
  }
}

function timingsOf(record) {
  const { timings, attempts } = record;
  const parts = [
    `${attempts.length} ${attempts.length === 1 ? "attempt" : "attempts"}`,
    `applier ${duration(timings.applier_wait)}`,
    `quiet ${duration(timings.quiet_wait)}`,
    `queue ${duration(timings.queue_wait)}`,
    `hold ${duration(timings.hold)}`,
    `longest writer wait ${duration(timings.max_writer_wait)}`,
  ];
  return parts.join(" · ");
}

export function showTransition(current, last, mayChange) {
  const record = current ?? last;
  $("no-transition").hidden = record !== null;
  $("transition").hidden = record === null;
  if (record === null) return;
  const over = record.result !== null;
  const result = over
    ? resultOf(record)
    : { badge: record.state, text: states[record.state] ?? record.state };
  say($("transition-title"), over ? "Last transition" : "Transition in progress");
  say($("transition-state"), result.text, `badge ${result.badge}`);
  const rehearsal = record.request.rehearse ? ", a rehearsal" : "";
  say(
    $("transition-what"),
    `${record.from ?? "–"} → ${record.to}${rehearsal}, asked for by ${record.request.requested_by ?? "–"}`,
  );
  const error = record.server_error
    ? ` (${record.server_error.sqlstate ?? ""} ${record.server_error.message})`
    : "";
  say(
    $("transition-message"),
    record.message +
      (record.server_error && !record.message.includes(record.server_error.message) ? error : ""),
  );
  showClocks(record);
  $("cancel-button").hidden = !(isCancellable(record) && mayChange);
  $("cancel-button").dataset.id = record.id;
  say($("blockers-title"), over ? "Held the gate while it waited" : "Holding the gate");
  const rows = holderRows(record.blockers);
  $("blockers-title").hidden = rows.length === 0;
  $("blockers").parentElement.hidden = rows.length === 0;
  table($("blockers"), holderColumns, rows, "nobody");
  say($("timings"), timingsOf(record));
}
