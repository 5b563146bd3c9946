// Values to elements. Nothing from the sidecar is ever taken for HTML: what a client of the database wrote into its
// application name or its statement is text.

export const $ = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Sets the text only when it is another one, so that screen readers are not told the same twice. */
export function say(where, text, className) {
  if (where.textContent !== text) where.textContent = text;
  if (className !== undefined && where.className !== className) where.className = className;
}

export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "–";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const two = (value) => String(Math.floor(value)).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${two((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${two((seconds % 86400) / 3600)} h`;
}

/** `2026-12-01 03:04:05 UTC`. */
export function moment(text) {
  return text ? `${text.slice(0, 10)} ${text.slice(11, 19)} UTC` : "–";
}

/** Whole steps, so that a text that is shown every second does not change every second. */
export function ago(text, now) {
  const seconds = Math.max(0, (Date.parse(now) - Date.parse(text)) / 1000);
  if (seconds < 60) return "less than a minute ago";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

const shown = new WeakMap();

/** `columns`: [heading, class of its cells]. The table is built anew only when something in it has changed. */
export function table(where, columns, rows, empty) {
  const key = JSON.stringify([columns, rows]);
  if (shown.get(where) === key) return;
  shown.set(where, key);
  if (rows.length === 0) {
    where.replaceChildren(element("caption", { textContent: empty }));
    return;
  }
  const heading = element(
    "tr",
    {},
    ...columns.map(([text, kind]) => element("th", { scope: "col", className: kind ?? "", textContent: text })),
  );
  const body = rows.map((row) =>
    element(
      "tr",
      {},
      ...row.map((cell, at) => {
        const made = element("td", { className: columns[at][1] ?? "", "data-label": columns[at][0] });
        made.append(
          cell?.badge
            ? element("span", { className: `badge ${cell.badge}`, textContent: cell.text })
            : (cell ?? "–"),
        );
        return made;
      }),
    ),
  );
  where.replaceChildren(element("thead", {}, heading), element("tbody", {}, ...body));
}

const marks = { good: "✓ good", warning: "! warning", bad: "✗ bad" };

/** Words and a sign beside the colour. */
export function verdict(kind) {
  return element("span", { className: `mark ${kind}`, textContent: marks[kind] ?? kind });
}

export function notice(where, kind, text, hint) {
  where.replaceChildren();
  if (!text) return;
  const made = element("div", { className: `notice ${kind}`, textContent: text });
  if (hint) made.append(element("small", { textContent: hint }));
  where.append(made);
}

function stateNote(lock) {
  if (lock.hold === "exclusive") return " (a transition)";
  return lock.idle && !lock.state?.startsWith("idle") ? ", waits for its client" : "";
}

export function holderRows(locks) {
  return locks.map((lock) => [
    lock.prepared_gid ? `prepared ${lock.prepared_gid}` : String(lock.pid),
    duration(lock.age_ms),
    (lock.state ?? "–") + stateNote(lock),
    lock.application || "–",
    lock.client ?? (lock.client_address ? `${lock.client_address}:${lock.client_port}` : "local"),
    lock.sidecar ?? "past the sidecars",
    lock.query ?? "–",
  ]);
}

export const holderColumns = [
  ["Backend", "number"],
  ["Since", "number"],
  ["State"],
  ["Application"],
  ["Client"],
  ["Sidecar"],
  ["Statement", "sql"],
];

export function resultOf(record) {
  if (record.result?.outcome === "rehearsed") return { badge: "committed", text: "rehearsed" };
  if (record.state === "committed" && record.changed === false) return { badge: "", text: "was so already" };
  const reason = record.reason ? ` (${record.reason})` : "";
  return { badge: record.state, text: record.state.replace("_", " ") + reason };
}

export const historyColumns = [
  ["Ended"],
  ["From, to"],
  ["Result"],
  ["Waited", "number"],
  ["Held", "number"],
  ["Writers waited", "number"],
  ["Attempts", "number"],
  ["By, why, and what was said", "text"],
];

export function historyRow(record) {
  const by = [record.request?.requested_by, record.sidecar].filter(Boolean).join(", ");
  const why = [by, record.request?.reason, record.message].filter(Boolean).join(" – ");
  return [
    moment(record.finished_at ?? record.started_at),
    `${record.from ?? "–"} → ${record.to}`,
    resultOf(record),
    duration(record.timings.queue_wait + record.timings.quiet_wait + record.timings.applier_wait),
    duration(record.timings.hold),
    duration(record.timings.max_writer_wait),
    String(record.attempts.length),
    why || "–",
  ];
}
