"use strict";
// Draws charts as SVG, with scales, axes, stacked strips, values on hover, and zoom on the x axis.

// Strings become text nodes and attributes, never markup, because names are untrusted.
function element(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// Maps a value to a position; `invert` maps a position to a value.
function scaled(type, [low, high], [from, to]) {
  const [map, back] = type === "log" ? [Math.log, Math.exp] : [Number, Number];
  const [start, span] = [map(low), map(high) - map(low)];
  const at = (value) => (span === 0 ? (from + to) / 2 : from + ((to - from) * (map(value) - start)) / span);
  at.invert = (pixel) => back(start + (span * (pixel - from)) / (to - from));
  at.domain = [low, high];
  return at;
}

// The distance between about `count` round values. A negative result d means 1 / |d|, so that multiples
// of 0.1 are exact.
function tickStep(low, high, count) {
  const rough = (high - low) / count;
  const power = Math.floor(Math.log10(rough));
  const error = rough / 10 ** power;
  const factor = error >= Math.sqrt(50) ? 10 : error >= Math.sqrt(10) ? 5 : error >= Math.sqrt(2) ? 2 : 1;
  return power < 0 ? -(10 ** -power) / factor : factor * 10 ** power;
}

function ticks(low, high, count) {
  if (!(high > low && count > 0)) return [low];
  const step = tickStep(low, high, count);
  const times = (i) => (step < 0 ? i / -step : i * step);
  const index = (value) => (step < 0 ? value * -step : value / step);
  const [first, last] = [Math.ceil(index(low) - 1e-9), Math.floor(index(high) + 1e-9)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => times(first + i));
}

// The next round value at or above the highest one.
function roundUp(high) {
  const step = tickStep(0, high, 10);
  return step < 0 ? Math.ceil(high * -step - 1e-9) / -step : Math.ceil(high / step - 1e-9) * step;
}

const grouped = (value) => value.toLocaleString("en");

// 1500000: 1.5M.
function si(value) {
  const power = Math.max(0, Math.min(4, Math.floor(Math.log10(Math.abs(value) || 1) / 3)));
  return Number((value / 1000 ** power).toPrecision(12)) + ["", "k", "M", "G", "T"][power];
}

const extent = (values) => [Math.min, Math.max].map((end) => values.reduce((a, b) => end(a, b)));
const text = (x, y, anchor, content, more) => element("text", { x, y, dy: "0.32em", "text-anchor": anchor, ...more }, content);
const line = (x1, y1, x2, y2, more) => element("path", { d: `M${x1},${y1}L${x2},${y2}`, ...more });
const curve = (points, more) => element("path", { d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)},${y.toFixed(2)}`).join(""), fill: "none", ...more });
const rect = (x1, x2, y1, y2, more) => element("rect", { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1), ...more });

function drawing(width, height, label) {
  return element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

// The chart and zoom state of each box.
const frames = new WeakMap();

// Draws in `box`, between the elements `before` and `after`:
//   label, width, height (of a strip), margin {top, right, bottom, left}, gap (between strips)
//   strips [{key, name, colour, axis}]: `axis` replaces `y` in a strip
//   x {type, domain, ticks(domain, pixels), text, title, least}: `least` is the minimum range of a zoom
//   y {type, domain, ticks, grid, text}
//   marks(panel): elements of a strip, clipped at its sides; names(panel): elements next to it
//   points [{key, x, y, colour, optionally x1, x2, y1, y2}], tell(point): [name, value]
function plot(box, chart) {
  const frame = frames.get(box) ?? framed(box);
  const whole = chart.x.domain.join();
  if (frame.whole !== whole) frame.domain = undefined;
  Object.assign(frame, { chart, whole, room: box.clientWidth });
  render(frame);
  box.replaceChildren(...(chart.before ?? []), frame.root, ...(chart.after ?? []));
}

function framed(box) {
  const html = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const frame = {
    root: html("div", { className: "plot" }),
    svg: element("svg", { role: "img", tabindex: 0 }),
    tip: html("div", { className: "tip", hidden: true }),
    hint: html("span", { className: "hint", textContent: "Drag to zoom" }),
    reset: html("button", { type: "button", className: "reset", textContent: "Reset zoom", title: "Or double-click, or press Escape", hidden: true }),
  };
  frame.root.append(frame.svg, frame.hint, frame.reset, frame.tip);
  frame.hint.setAttribute("aria-hidden", "true");
  frames.set(box, frame);
  listen(frame);
  return frame;
}

function render(frame) {
  const { chart, svg } = frame;
  const { label, height, width = frame.room, gap = 30, strips = [{}] } = chart;
  const margin = { top: 24, right: 12, bottom: chart.x.title ? 44 : 28, left: 58, ...chart.margin };
  const [left, right] = [margin.left, width - margin.right];
  const bottom = margin.top + strips.length * height + (strips.length - 1) * gap;
  const x = scaled(chart.x.type, frame.domain ?? chart.x.domain, [left, right]);
  frame.panels = strips.map(({ key, name, colour, axis = chart.y }, i) => {
    const top = margin.top + i * (height + gap);
    const y = scaled(axis.type, axis.domain, [top + height, top]);
    return { key, name, colour, axis, isFirst: i === 0, x, y, left, right, top, bottom: top + height };
  });
  const clip = `clip-${(frame.id ??= (render.count = (render.count ?? 0) + 1))}`;
  const cut = frame.domain && { "clip-path": `url(#${clip})` };
  const axis = element("g", { class: "axis" }, ...labels(chart.x.ticks(x.domain, right - left), x, chart.x.text, width).flatMap((label) => [
    line(x(label.tick), bottom, x(label.tick), bottom + 5),
    text(label.at, bottom + 15, "middle", label.said),
  ]));
  if (chart.x.title) axis.append(text((left + right) / 2, bottom + 35, "middle", chart.x.title));
  svg.replaceChildren(
    element("clipPath", { id: clip }, rect(left, right, 0, bottom + 5)),
    ...frame.panels.map((panel) => strip(chart, panel, cut)), axis,
  );
  const size = { width, height: bottom + margin.bottom };
  for (const [name, value] of Object.entries({ ...size, viewBox: `0 0 ${width} ${size.height}`, "aria-label": label })) svg.setAttribute(name, value);
  frame.reset.hidden = !frame.domain;
  frame.tip.hidden = true;
  const inside = (point) => (point.x2 ?? point.x) >= x.domain[0] && (point.x1 ?? point.x) <= x.domain[1];
  frame.spots = frame.panels.map((panel) => chart.points.filter((point) => point.key === panel.key && inside(point)));
}

// Ticks whose labels do not overlap an earlier one, moved inside if they would be cut off.
function labels(shown, x, written, width) {
  const kept = [];
  for (const tick of shown) {
    const said = written(tick);
    const half = 3.4 * said.length;
    const at = Math.min(x(tick), width - half);
    if (kept.every((other) => Math.abs(other.at - at) >= other.half + half + 6)) kept.push({ tick, said, half, at });
  }
  return kept;
}

function strip(chart, panel, cut) {
  const { x, y, left, right, top } = panel;
  const { ticks: shown = [], grid = shown, text: written } = panel.axis;
  const group = element("g", {}, element("g", { class: "grid" }, ...grid.map((value) => line(left, y(value), right, y(value)))));
  group.append(
    element("g", { class: "marks", ...cut }, ...chart.marks(panel).flat(2)),
    element("g", { class: "axis" }, ...shown.map((value) => text(left - 8, y(value), "end", written(value)))),
    ...(chart.names?.(panel) ?? []),
  );
  if (panel.name) {
    // Beside the first name there is a button.
    const room = Math.floor((right - left - (panel.isFirst ? 100 : 16)) / 6.7);
    const name = panel.name.length > room ? `${panel.name.slice(0, room)}…` : panel.name;
    group.append(rect(left, left + 9, top - 16, top - 7, { rx: 2, fill: panel.colour }), text(left + 15, top - 11.5, "start", name, { class: "name" }));
  }
  return group;
}

// Distance in pixels, mainly in x, because the pointer usually selects a time.
function nearest({ panels, spots }, [px, py]) {
  const away = (panel) => Math.max(panel.top - py, py - panel.bottom, 0);
  const at = panels.reduce((best, panel, i) => (away(panel) < away(panels[best]) ? i : best), 0);
  const { x, y } = panels[at];
  const beyond = (value, one, other) => Math.max(Math.min(one, other) - value, value - Math.max(one, other), 0);
  let found;
  let least = Infinity;
  for (const point of spots[at]) {
    const across = beyond(px, x(point.x1 ?? point.x), x(point.x2 ?? point.x));
    const down = beyond(py, y(point.y1 ?? point.y), y(point.y2 ?? point.y));
    const distance = 4 * across * across + down * down;
    if (distance < least) [found, least] = [point, distance];
  }
  return found && { point: found, at: [x(found.x), y(found.y)].map((pixel, i) => (i ? pixel : Math.max(panels[at].left, Math.min(panels[at].right, pixel)))) };
}

function show(frame, near) {
  const { svg, tip, root } = frame;
  svg.querySelector(".here")?.remove();
  tip.hidden = !near;
  if (!near) return;
  const [x, y] = near.at;
  const lines = frame.chart.tell(near.point);
  svg.append(element("circle", { class: "here", cx: x, cy: y, r: 4.5, fill: near.point.colour }));
  tip.replaceChildren(...lines.map((content) => Object.assign(document.createElement("div"), { textContent: content })));
  tip.style.setProperty("--c", near.point.colour);
  const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
  const beside = x + 12 + wide > root.clientWidth ? x - 12 - wide : x + 12;
  tip.style.left = `${Math.max(0, beside)}px`;
  tip.style.top = `${Math.max(0, Math.min(root.clientHeight - high, y - high - 8 < 0 ? y + 12 : y - high - 8))}px`;
}

// Shows the range between two values, within the limits of the data and not too narrow.
function zoom(frame, from, to) {
  const { type, domain, least } = frame.chart.x;
  const [map, back] = type === "log" ? [Math.log, Math.exp] : [Number, Number];
  const [low, high] = domain.map(map);
  const span = Math.min(high - low, Math.max(Math.abs(map(to) - map(from)), least ?? (high - low) / 1e4));
  const middle = Math.max(low + span / 2, Math.min(high - span / 2, (map(from) + map(to)) / 2));
  frame.domain = span >= 0.999 * (high - low) ? undefined : [back(middle - span / 2), back(middle + span / 2)];
  render(frame);
}

// Moves the visible range by a share of its width, and scales its width.
function move(frame, share, factor) {
  const { x, left, right } = frame.panels[0];
  const middle = (left + right) / 2 + share * (right - left);
  const half = (factor * (right - left)) / 2;
  zoom(frame, x.invert(middle - half), x.invert(middle + half));
}

function listen(frame) {
  const { svg, root } = frame;
  const place = (event) => {
    const seen = svg.getBoundingClientRect();
    return [event.clientX - seen.left, event.clientY - seen.top];
  };
  const whole = () => { frame.domain = undefined; render(frame); };
  let stop;

  function drag(down) {
    const { x, left, right } = frame.panels[0];
    const at = (event) => Math.max(left, Math.min(right, place(event)[0]));
    const start = at(down);
    const selection = rect(start, start, 0, frame.panels.at(-1).bottom, { class: "selection" });
    const isFar = (event) => Math.abs(at(event) - start) > 5;
    const follow = (event) => {
      show(frame);
      if (!isFar(event)) return;
      if (!selection.isConnected) svg.append(selection);
      selection.setAttribute("x", Math.min(start, at(event)));
      selection.setAttribute("width", Math.abs(at(event) - start));
    };
    const end = (event) => {
      stop();
      if (event.type === "pointerup" && isFar(event)) zoom(frame, x.invert(start), x.invert(at(event)));
    };
    stop = () => {
      selection.remove();
      stop = undefined;
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
    };
    addEventListener("pointermove", follow);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  svg.addEventListener("pointermove", (event) => { if (!stop) show(frame, nearest(frame, place(event))); });
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    stop?.();
    show(frame, nearest(frame, place(event)));
    drag(event);
  });
  // After a touch, the tooltip stays visible.
  svg.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") show(frame); });
  addEventListener("pointerdown", (event) => { if (!root.contains(event.target)) show(frame); });
  svg.addEventListener("dblclick", whole);
  frame.reset.addEventListener("click", () => { whole(); svg.focus(); });
  const keys = { "+": [0, 0.5], "=": [0, 0.5], "-": [0, 2], ArrowLeft: [-0.25, 1], ArrowRight: [0.25, 1] };
  svg.addEventListener("keydown", (event) => {
    const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
    if (!isPlain || !keys[event.key] || !(frame.domain || keys[event.key][1] < 1)) return;
    event.preventDefault();
    move(frame, ...keys[event.key]);
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !(root.contains(document.activeElement) || root.matches(":hover"))) return;
    stop?.();
    whole();
  });
}
