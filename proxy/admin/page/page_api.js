// Asking the sidecar, and listening to it. Server-sent events are read from a fetch(): an EventSource could not
// carry the token that reading may need.

const tokenKey = "ledgergate-token";
let token = sessionStorage.getItem(tokenKey) ?? "";

export const hasToken = () => token !== "";

export function setToken(value) {
  token = value;
  if (value) sessionStorage.setItem(tokenKey, value);
  else sessionStorage.removeItem(tokenKey);
}

const headers = (more) => (token ? { Authorization: `Bearer ${token}`, ...more } : { ...more });

/** The error of an answer that is no JSON of the API, in the shape of one. */
function unexplained(status) {
  return {
    error: { code: "no_answer", message: `the answer was HTTP ${status} without an explanation`, hint: "" },
  };
}

/** Never throws: a lost connection is an answer with status 0. */
export async function ask(method, path, body) {
  const change = method !== "GET";
  try {
    const response = await fetch(path, {
      method,
      headers: headers(change ? { "Content-Type": "application/json" } : {}),
      body: change && body ? JSON.stringify(body) : undefined,
      cache: "no-store",
    });
    const value = await response.json().catch(() => unexplained(response.status));
    return { status: response.status, body: value };
  } catch {
    const hint = change ? "the request may have been carried out all the same: look at the history" : "";
    return { status: 0, body: { error: { code: "lost", message: "the sidecar does not answer", hint } } };
  }
}

/** One event's lines to {name, data}; null for a comment. */
function parse(block) {
  const event = { name: "message", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event.name = line.slice(7);
    if (line.startsWith("data: ")) event.data += line.slice(6);
  }
  return event.data ? { name: event.name, data: JSON.parse(event.data) } : null;
}

let abort = null;

/** Listens again at once, with the token as it is now. */
export function listenAgain() {
  abort?.abort();
}

async function readEvents(onEvent, onState) {
  abort = new AbortController();
  const response = await fetch("/v1/events", {
    headers: headers({ Accept: "text/event-stream" }),
    cache: "no-store",
    signal: abort.signal,
  });
  if (!response.ok) {
    const body = await response.json().catch(() => unexplained(response.status));
    onState("refused", body.error);
    return;
  }
  onState("live");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const event of blocks.map(parse)) if (event) onEvent(event.name, event.data);
  }
}

/** Goes on for ever; after a loss it tries again, at most every five seconds. */
export async function listen(onEvent, onState) {
  let pause = 250;
  for (;;) {
    const began = Date.now();
    try {
      await readEvents(onEvent, (state, error) => {
        onState(state, error);
        if (state === "live") pause = 250;
      });
      if (Date.now() - began > 1000) onState("lost");
    } catch (error) {
      if (error.name === "AbortError") continue;
      onState("lost");
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 5000);
  }
}
