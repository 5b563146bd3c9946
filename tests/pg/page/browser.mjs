// A real browser on the operator's page. Each scenario is one run: `node browser.mjs SCENARIO URL TOKEN FOLDER`.
// What it saw goes to standard output, one JSON value a line; it ends with another code than 0 when the page did not
// show in time what it was to show, and whenever the page logged an error or broke its own Content-Security-Policy.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [scenario, url, token, folder] = process.argv.slice(2);
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const deadline = 30_000;

const tell = (what, value) => console.log(JSON.stringify({ what, value }));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(deadline);
  page.complaints = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("request", (request) => request.url().startsWith(url) || page.complaints.push(`asked ${request.url()}`));
  await page.goto(url);
  await page.locator("#link.live").waitFor();
  return page;
}

const text = (page, id) => page.locator(`#${id}`).innerText();
const hasText = (page, id, wanted) => page.locator(`#${id}`, { hasText: wanted }).waitFor();

async function unlock(page) {
  await page.fill("#token", token);
  await page.press("#token", "Enter");
  await hasText(page, "token-note", "unlocked");
}

/** Everything by the keyboard, as far as the confirmation. */
async function ask(page, button, mode) {
  await page.focus("#to");
  await page.selectOption("#to", mode);
  await page.focus(button);
  await page.keyboard.press("Enter");
  await page.locator("#confirm[open]").waitFor();
}

async function confirm(page, mode) {
  await page.keyboard.type(mode);
  await page.keyboard.press("Enter");
}

async function accessibility(page, name) {
  const found = await page.evaluate(`(() => { ${axeSource}; return axe.run(document); })()`);
  tell("axe", { name, violations: found.violations.map((each) => [each.id, each.nodes.map((node) => node.html)]) });
}

const shoot = (page, name) => page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });

const scenarios = {
  /** Somebody else changes the mode: the page shows how it goes without a token. */
  async watch() {
    const page = await open();
    tell("mode", await text(page, "mode"));
    tell("disabled", await page.locator("#start-button").isDisabled());
    tell("ready", true);
    await hasText(page, "transition-state", "queued");
    await page.locator("#clocks progress").nth(1).waitFor();
    tell("clocks", await page.locator("#clocks .clock").allInnerTexts());
    await page.locator("#blockers tbody tr").first().waitFor();
    tell("blockers", await page.locator("#blockers tbody tr").allInnerTexts());
    tell("cancel", await page.locator("#cancel-button").isVisible());
    await page.locator("#waiting", { hasText: "1" }).waitFor();
    tell("queued", true);
    await hasText(page, "transition-state", "committed");
    await page.locator("#history tbody tr").first().waitFor();
    tell("history", await page.locator("#history tbody tr").first().innerText());
    await hasText(page, "mode", "ledger");
    return page;
  },

  async start() {
    const page = await open();
    await unlock(page);
    await ask(page, "#start-button", "ledger");
    await page.keyboard.type("ledge");
    tell("too_short", await page.locator("#confirm-yes").isDisabled());
    await confirm(page, "r");
    await hasText(page, "transition-state", "committed");
    await hasText(page, "mode", "ledger");
    return page;
  },

  async cancel() {
    const page = await open();
    await unlock(page);
    await ask(page, "#start-button", "ledger");
    await confirm(page, "ledger");
    await hasText(page, "transition-state", "queued");
    await page.click("#cancel-button");
    await hasText(page, "transition-state", "aborted (cancelled)");
    tell("mode", await text(page, "mode"));
    return page;
  },

  /** The mode changes between the look and the change. */
  async refused() {
    const page = await open();
    await unlock(page);
    await ask(page, "#start-button", "ledger");
    tell("ready", true);
    await new Promise((resolve) => process.stdin.once("data", resolve));
    await confirm(page, "ledger");
    await page.locator("#answer .bad").waitFor();
    tell("answer", await text(page, "answer"));
    page.complaints = page.complaints.filter((each) => !/status of (409|412)/.test(each));
    return page;
  },

  async plan() {
    const page = await open();
    await unlock(page);
    await page.click("#plan-button");
    await page.locator("#plan-checks li").first().waitFor();
    tell("verdict", await text(page, "plan-verdict"));
    tell("checks", await page.locator("#plan-checks li").allInnerTexts());
    return page;
  },

  async wrong_token() {
    const page = await open();
    await page.fill("#token", "not-it");
    await page.press("#token", "Enter");
    await page.locator("#token-note.bad").waitFor();
    tell("note", await text(page, "token-note"));
    tell("disabled", await page.locator("#start-button").isDisabled());
    page.complaints = page.complaints.filter((each) => !each.includes("the server responded with a status of 403"));
    return page;
  },

  /** Names of clients are text, never HTML. */
  async hostile() {
    const page = await open();
    await page.locator("#holders tbody tr").first().waitFor();
    tell("holder", await page.locator("#holders tbody tr").first().innerText());
    tell("images", await page.locator("main img").count());
    return page;
  },

  /** The sidecar goes away and comes back. */
  async lost() {
    const page = await open();
    tell("ready", true);
    await page.locator("#link.lost").waitFor();
    tell("lost", await text(page, "link"));
    await page.locator("#link.live").waitFor();
    page.complaints = page.complaints.filter((each) => !each.includes("net::ERR_"));
    return page;
  },

  /** axe-core and pictures: light, dark, phone; at rest, with a plan, while a transition is queued. */
  async looks() {
    const sizes = { light: {}, dark: { colorScheme: "dark" }, phone: { viewport: { width: 390, height: 844 } } };
    let page = null;
    for (const [name, options] of Object.entries(sizes)) {
      page = await open(options);
      await accessibility(page, `${name} at rest`);
      await unlock(page);
      await page.click("#plan-button");
      await page.locator("#plan-checks li").first().waitFor();
      await ask(page, "#start-button", "ledger");
      await accessibility(page, `${name} confirm`);
      await shoot(page, `${name}-confirm`);
      await confirm(page, "ledger");
      await hasText(page, "transition-state", "queued");
      await page.locator("#blockers tbody tr").first().waitFor();
      await accessibility(page, `${name} queued`);
      await shoot(page, `${name}-queued`);
      tell("overflow", await page.evaluate("document.documentElement.scrollWidth > window.innerWidth"));
      await page.click("#cancel-button");
      await hasText(page, "transition-state", "aborted");
      await page.locator("#history tbody tr").first().waitFor();
      await accessibility(page, `${name} ended`);
      await shoot(page, `${name}-ended`);
    }
    return page;
  },
};

let code = 0;
try {
  const page = await scenarios[scenario]();
  tell("complaints", page.complaints);
} catch (error) {
  console.error(error);
  code = 1;
}
await browser.close();
process.exit(code);
