"use strict";
// What all charts look alike in, and what they share.
const axisText = { fontSize: 12, color: "var(--muted)" };
const style = { fontFamily: "inherit", fontSize: "12px", overflow: "visible", background: "transparent" };
const colour = (number) => `var(--arm-${(number % 8) + 1})`;
const letter = (arm) => String.fromCharCode(65 + (arm % 26)) + (arm < 26 ? "" : Math.floor(arm / 26));

function time(ns) {
  const [unit, scale] = ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  return `${Number((ns / scale).toPrecision(3))} ${unit}`;
}

// The unit of a time axis that ends after so many seconds, and its seconds.
function clock(end) {
  return end > 3 * 3600 ? ["hours", 3600] : end > 180 ? ["minutes", 60] : ["seconds", 1];
}

// Powers of ten, with 2 and 5 between where there is room for so many.
function decades(low, high, most) {
  const powers = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1);
  const inside = powers.flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power))
    .filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  return inside.length > most ? inside.filter((tick) => Number.isInteger(Math.log10(tick))) : inside;
}

// The first of them that are so far apart from each other.
function apart(wanted, least) {
  const kept = [];
  for (const x of wanted) {
    if (kept.every((other) => Math.abs(other - x) >= least)) kept.push(x);
  }
  return kept;
}

// Plot takes one dash pattern per mark, not per line.
function dashLines(plot, selector, patterns) {
  plot.querySelectorAll(selector).forEach((path, i) => path.setAttribute("stroke-dasharray", patterns[i] ?? "none"));
}

// One strip per arm, each named at its top.
function strips(box, arms, name, options) {
  const height = options.height ?? (arms.length > 8 ? 46 : 62);
  return Plot.plot({
    width: box.clientWidth, height: arms.length * (height + 24) + 50, marginLeft: 58, marginRight: 12, marginBottom: 44, marginTop: 22, style,
    fy: { domain: arms, axis: null, padding: 0.32 }, ...options.plot,
    marks: [
      ...options.marks,
      Plot.text(arms, { fy: (arm) => arm, frameAnchor: "top-left", dy: -6, lineAnchor: "bottom", text: name, fill: "var(--fg)", fontSize: 12 }),
    ],
  });
}

// The axes of strips over time, up to `end` in units of `scale` seconds.
function overTime(box, [unit, scale], end) {
  return {
    domains: { x: { domain: [0, end / scale], label: null }, y: { label: null, zero: true, nice: true } },
    grid: Plot.gridY({ ticks: 2, stroke: "var(--line)", strokeOpacity: 1 }),
    axis: Plot.axisX({ ...axisText, ticks: Math.max(2, Math.round(box.clientWidth / 90)), facetAnchor: "bottom", label: `${unit} since the start`, labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
  };
}
