// The operator's page: what the sidecar says, live; and, with the token, what an operator may ask of it.
import { ask, hasToken, listen, listenAgain, setToken } from "./page_api.js";
import { addSample, drawChart } from "./page_chart.js";
import { showTransition, tickClocks } from "./page_transition.js";
import {
  $,
  ago,
  duration,
  element,
  historyColumns,
  historyRow,
  holderColumns,
  holderRows,
  moment,
  notice,
  say,
  table,
  verdict,
} from "./page_view.js";

let status = null;
let historyOf = "";
let wanted = null; // what the confirmation is about

function showHealth() {
  const items = [];
  const gate = {
    enforce: ["good", "gate enforced"],
    observe: ["warning", "gate observes: nothing is pinned"],
    off: ["warning", "gate off: plain relay"],
  };
  items.push(gate[status.gate.mode]);
  items.push(
    status.upstream.reachable
      ? ["good", `server ${status.upstream.address}`]
      : ["bad", `server ${status.upstream.address}: ${status.upstream.error}`],
  );
  items.push(
    status.control.connected
      ? ["good", "control connection"]
      : ["bad", `no control connection: ${status.control.error ?? ""}`],
  );
  if (status.catalog.enabled) {
    items.push(
      status.catalog.error ? ["warning", `catalog: ${status.catalog.error}`] : ["good", "catalog read"],
    );
  }
  const key = JSON.stringify(items);
  if ($("health").dataset.key === key) return;
  $("health").dataset.key = key;
  $("health").replaceChildren(...items.map(([kind, text]) => element("li", {}, verdict(kind), ` ${text}`)));
}

function showModes() {
  const modes = status.ledger.modes;
  if ($("to").dataset.key === `${modes}/${status.ledger.mode}`) return;
  $("to").dataset.key = `${modes}/${status.ledger.mode}`;
  const kept = modes.includes($("to").value) && $("to").value !== status.ledger.mode ? $("to").value : null;
  $("to").replaceChildren(
    ...modes.map((mode) =>
      element("option", {
        value: mode,
        textContent: mode + (mode === status.ledger.mode ? " (in force)" : ""),
      }),
    ),
  );
  $("to").value = kept ?? modes.find((mode) => mode !== status.ledger.mode) ?? modes[0] ?? "";
}

function showRights() {
  const open = hasToken();
  for (const id of ["plan-button", "rehearse-button", "start-button"])
    $(id).disabled = !open || status === null;
  $("locked").hidden = open;
  $("forget").hidden = !open;
  $("token").hidden = open;
  $("token-button").hidden = open;
  document.querySelector("label[for=token]").hidden = open;
  if (status) showTransition(status.transition, status.last_transition, open);
}

async function showHistory() {
  const { status: code, body } = await ask("GET", "/v1/transitions");
  if (code !== 200) return;
  table(
    $("history"),
    historyColumns,
    body.transitions.filter((each) => each.result !== null).map(historyRow),
    "No transition is known: without the audit table (gatectl install) the history begins with this sidecar.",
  );
}

function showStatus(data) {
  status = data;
  document.title = `${data.ledger.mode ?? "?"} – ledgergate`;
  say($("where"), `${data.gate.database} · ${data.version}`);
  say($("mode"), data.ledger.mode ?? "not known");
  const since = data.ledger.since;
  say($("since"), since ? `since ${moment(since)}, ${ago(since, data.time)}` : "since when is not known");
  say($("clients"), `${data.clients.connected} / ${data.clients.limit}`);
  showHealth();
  showModes();
  showRights();
  table(
    $("fleet"),
    [["Name"], ["Version"], ["Host"], ["Address"], ["Connected since"]],
    data.sidecars.map((each) => [
      each.name,
      each.version,
      each.host,
      each.address ?? "local",
      moment(each.connected_since),
    ]),
    "None was seen yet.",
  );
  const version = `${data.last_transition?.id}/${data.last_transition?.state}/${data.ledger.version}`;
  if (historyOf !== version) {
    historyOf = version;
    showHistory();
  }
}

function showPins(data) {
  if (data.error) return;
  say($("held"), String(data.held));
  say($("waiting"), String(data.waiting));
  say($("oldest"), duration(data.oldest_age_ms));
  addSample(data.held, data.waiting);
  drawChart();
  table($("holders"), holderColumns, holderRows(data.holders), "Nobody holds the gate.");
}

function showLink(state, error) {
  const words = { live: "live", lost: "connection lost, trying again", refused: error?.message };
  say($("link"), words[state], state === "live" ? "live" : "lost");
}

function refusal(body) {
  const { message, code, hint } = body.error;
  notice($("answer"), "bad", `${message} [${code}]`, hint);
}

/** The request as the operator sees the ledger now: refused when somebody was faster. */
function request(more) {
  const random = [...crypto.getRandomValues(new Uint8Array(16))].map((each) =>
    each.toString(16).padStart(2, "0"),
  );
  return {
    to: $("to").value,
    from: status.ledger.mode,
    expect_version: status.ledger.version,
    reason: $("reason").value || undefined,
    request_id: more.dry_run ? undefined : `page-${random.join("")}`,
    ...more,
  };
}

async function plan() {
  const { status: code, body } = await ask("POST", "/v1/transitions", request({ dry_run: true }));
  $("plan").hidden = code !== 200;
  if (code !== 200) return refusal(body);
  notice($("answer"), "", "");
  const { plan: found } = body;
  say($("plan-title"), `Plan: ${body.from ?? "–"} → ${body.to}`);
  const bad = found.checks.filter((check) => check.verdict === "bad").length;
  $("plan-verdict").replaceChildren(
    verdict(found.possible ? "good" : "bad"),
    found.possible
      ? " it could be done now"
      : ` it would be refused: ${bad} ${bad === 1 ? "check" : "checks"} failed`,
  );
  $("plan-checks").replaceChildren(
    ...found.checks.map((check) =>
      element(
        "li",
        {},
        verdict(check.verdict),
        element("span", { className: "faint", textContent: check.name }),
        element("span", { textContent: check.message }),
      ),
    ),
  );
  const pause = found.predicted_pause;
  say(
    $("plan-pause"),
    `Writers would wait about ${duration((pause.queue_ms ?? 0) + (pause.hold_ms ?? 0))}, never more than ` +
      `${duration(pause.at_most_ms)}. Guards: ${found.guards}, steps: ${found.steps}.`,
  );
}

function confirmChange(rehearse) {
  wanted = request(rehearse ? { rehearse: true } : {});
  say($("confirm-title"), rehearse ? "Rehearse the change?" : "Change the mode?");
  say(
    $("confirm-text"),
    `${status.ledger.mode} → ${wanted.to} on ${status.gate.database}. ` +
      (rehearse
        ? "Everything is done but the commit; writers wait as in a real change."
        : "Writers wait a moment; it is all or nothing, and can be cancelled while it waits."),
  );
  say($("confirm-target"), wanted.to);
  say($("confirm-yes"), rehearse ? "Rehearse" : `Change to ${wanted.to}`);
  $("confirm-mode").value = "";
  $("confirm-yes").disabled = true;
  $("confirm").showModal();
  $("confirm-mode").focus();
}

async function start() {
  $("confirm").close();
  if (wanted === null) return;
  const body = wanted;
  wanted = null;
  const { status: code, body: answer } = await ask("POST", "/v1/transitions", body);
  if (code === 202) return notice($("answer"), "good", "Asked for. How it goes stands under Transition.");
  if (code === 200)
    return notice(
      $("answer"),
      "good",
      answer.changed === false ? `The mode is ${answer.to} already.` : "Done.",
    );
  refusal(answer);
}

async function cancel(event) {
  const { status: code, body } = await ask("DELETE", `/v1/transitions/${event.target.dataset.id}`);
  if (code === 202) notice($("answer"), "good", "It is being cancelled; writers go on.");
  else refusal(body);
}

/** A dry run changes nothing and needs the token as a change does. */
async function unlock(event) {
  event.preventDefault();
  const given = $("token").value.trim();
  if (!given) return say($("token-note"), "enter the operator's token", "bad");
  setToken(given);
  const { status: code, body } = await ask("POST", "/v1/transitions", {
    to: status?.ledger.mode ?? "unknown",
    dry_run: true,
  });
  const refused = code === 403 || code === 0;
  if (refused) setToken("");
  say($("token-note"), refused ? body.error.message : "unlocked, for this tab", refused ? "bad" : "open");
  $("token").value = "";
  showRights();
  if (refused) return $("token").focus();
  listenAgain();
  $("to").focus();
}

function forget() {
  setToken("");
  $("plan").hidden = true;
  say($("token-note"), "read-only", "");
  showRights();
  listenAgain();
  $("token").focus();
}

$("token-form").addEventListener("submit", unlock);
$("forget").addEventListener("click", forget);
$("cancel-button").addEventListener("click", cancel);
$("change-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const what = event.submitter?.value ?? "plan";
  if (what === "plan") plan();
  else confirmChange(what === "rehearse");
});
$("confirm-mode").addEventListener("input", () => {
  $("confirm-yes").disabled = $("confirm-mode").value !== wanted?.to;
});
$("confirm-no").addEventListener("click", () => $("confirm").close());
$("confirm-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if ($("confirm-mode").value === wanted?.to) start();
});
if (hasToken()) say($("token-note"), "unlocked, for this tab", "open");
showRights();
setInterval(tickClocks, 100);
setInterval(drawChart, 1000);
listen((name, data) => {
  if (name === "status") showStatus(data);
  if (name === "pins") showPins(data);
}, showLink);
