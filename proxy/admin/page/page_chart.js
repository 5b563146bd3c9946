// Pins held and waiting over the last two minutes, as two stepped lines.
import { $, say } from "./page_view.js";

const span = 120_000;
const width = 600;
const height = 140;
const head = 8;
const samples = [];

/** 1, 2, 5, 10, 20, 50, ..: the smallest that is not less than `value`. */
function ceiling(value) {
  for (let power = 1; ; power *= 10)
    for (const step of [1, 2, 5]) if (step * power >= value) return step * power;
}

function path(key, most, now) {
  const x = (at) => Math.max(0, width - ((now - at) / span) * width).toFixed(1);
  const y = (value) => (height - (value / most) * (height - head)).toFixed(1);
  let line = "";
  for (const sample of samples)
    line += `${line ? "H" : "M"}${x(sample.at)}${line ? "V" : ","}${y(sample[key])}`;
  return line ? `${line}H${width}` : "";
}

export function addSample(held, waiting) {
  samples.push({ at: Date.now(), held, waiting });
  while (samples.length > 1 && samples[1].at < Date.now() - span) samples.shift();
}

export function drawChart() {
  const now = Date.now();
  const highest = Math.max(4, ...samples.map((sample) => Math.max(sample.held, sample.waiting)));
  const most = ceiling(highest);
  $("chart-held").setAttribute("d", path("held", most, now));
  $("chart-waiting").setAttribute("d", path("waiting", most, now));
  say($("chart-most"), `top of the chart: ${most}`);
  const grid = $("chart-grid");
  if (grid.childElementCount === 0) {
    for (const share of [0, 0.5]) {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      const y = head + share * (height - head);
      for (const [name, value] of Object.entries({ x1: 0, x2: width, y1: y, y2: y }))
        line.setAttribute(name, value);
      grid.append(line);
    }
  }
  const last = samples.at(-1);
  if (last)
    say($("chart-title"), `Pins over the last two minutes; now ${last.held} held, ${last.waiting} waiting`);
}
