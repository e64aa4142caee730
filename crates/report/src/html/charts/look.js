// Styles and functions that charts share.
const colour = (number) => `var(--arm-${(number % 8) + 1})`;
const letter = (arm) => String.fromCharCode(65 + (arm % 26)) + (arm < 26 ? "" : Math.floor(arm / 26));
const dashes = (number) => ["none", "6 3", "2 3", "8 3 2 3"][Math.floor(number / 8) % 4];
const short = (value) => grouped(Number(value.toPrecision(3)));

function time(ns) {
  const [unit, scale] = ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  return `${Number((ns / scale).toPrecision(3))} ${unit}`;
}

// A legend of names and colours.
function swatches(entries) {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const [name, ink] of entries) {
    const item = document.createElement("li");
    const key = document.createElement("span");
    key.className = "swatch";
    key.style.setProperty("--c", ink);
    item.append(key, ` ${name}`);
    list.append(item);
  }
  return list;
}

// The unit of a time axis with this end (in seconds), and its length in seconds.
function clock(end) {
  return end > 3 * 3600 ? ["hours", 3600] : end > 180 ? ["minutes", 60] : ["seconds", 1];
}

// Powers of ten, with 2 and 5 in between if there is room for at most `most` values.
function decades(low, high, most) {
  const first = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) + 1 - first }, (_, i) => first + i);
  const inside = powers.flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power))
    .filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  return inside.length > most ? inside.filter((tick) => Number.isInteger(Math.log10(tick))) : inside;
}

// The first values that are far enough apart.
function apart(wanted, least) {
  const kept = [];
  for (const x of wanted) {
    if (kept.every((other) => Math.abs(other - x) >= least)) kept.push(x);
  }
  return kept;
}

// The axis of a count.
function counted(domain, title) {
  return {
    domain, title, least: 1, text: grouped,
    ticks: ([low, high], pixels) => ticks(low, high, Math.min(high - low, pixels / 60)).filter(Number.isInteger),
  };
}

// Steps of `span` with `values`, in units of `seconds`; `low` and `high` if a step combines several values.
function steps({ runs }, { values, low, high }, seconds) {
  const bounds = runs.flatMap(([from, to, count]) => Array.from({ length: count }, (_, i) => (
    [i, i + 1].map((n) => (from + ((to - from) * n) / count) / seconds))));
  return bounds.map(([x1, x2], i) => ({ x: (x1 + x2) / 2, x1, x2, y: values[i], low: low?.[i], high: high?.[i] }))
    .filter((step) => step.y !== null);
}

// A line of steps, with a band from minimum to maximum behind it.
function stepLine(points, { x, y }, stroke, dash) {
  const at = (scale, value) => scale(value).toFixed(2);
  let [band, path, end] = ["", "", -Infinity];
  for (const { x1, x2, y: value, low, high } of points) {
    path += Math.abs(x1 - end) < 1e-3 * (x2 - x1) ? `V${at(y, value)}H${at(x, x2)}` : `M${at(x, x1)},${at(y, value)}H${at(x, x2)}`;
    if (low !== undefined) band += `M${at(x, x1)},${at(y, low)}H${at(x, x2)}V${at(y, high)}H${at(x, x1)}Z`;
    end = x2;
  }
  const drawn = element("path", { d: path, class: "steps", stroke, "stroke-dasharray": dash });
  return band ? [element("path", { d: band, class: "range", fill: stroke }), drawn] : [drawn];
}

// Lines over time, one strip per arm. Each has its `arm`, `steps`, `colour`, `dash` and `told`.
function overTime(box, { label, strips, lines, unit, end, amount, before, tickText }) {
  const high = lines.flatMap((line) => line.steps).reduce((most, step) => Math.max(most, step.high ?? step.y), 0);
  const top = roundUp(high || 1);
  const figure = ({ y, low, high: most }) => (low === undefined ? amount(y) : `${amount(y)} (${amount(low)} to ${amount(most)})`);
  const at = (x) => Number(x.toPrecision(4));
  plot(box, {
    label, before, strips, height: strips.length > 8 ? 46 : 62,
    x: {
      domain: [0, end], title: `${unit} since the start`, text: (tick) => grouped(Number(tick.toPrecision(9))),
      ticks: ([from, to], pixels) => ticks(from, to, Math.max(2, pixels / 90)),
    },
    y: { domain: [0, top], ticks: ticks(0, top, 2), text: tickText },
    marks: (panel) => lines.filter((line) => line.arm === panel.key).map((line) => stepLine(line.steps, panel, line.colour, line.dash)),
    points: lines.flatMap((line) => line.steps.map((step) => ({ ...step, key: line.arm, colour: line.colour, told: line.told }))),
    tell: (point) => [point.told, `${figure(point)} at ${at(point.x1)}${point.low === undefined ? "" : ` to ${at(point.x2)}`} ${unit}`],
  });
}
