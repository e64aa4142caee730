// The time per I/O of a peel: one row per step, from the bare stack to the full one.
function waterfallChart({ waterfall }) {
  if (!waterfall) return {};
  const { rows } = waterfall;
  // Layers start where the layer before ended. Pairs end where the full stack does.
  function placed() {
    let end = 0;
    return rows.map((row, i) => {
      const start = row.kind === "layer" ? end : row.kind === "pair" ? end - row.value : 0;
      if (row.kind !== "pair") end = start + row.value;
      const whisker = row.interval?.map((bound) => (row.kind === "pair" ? end - bound : start + bound)) ?? [];
      return { ...row, start, end, whisker, at: i + 1 };
    });
  }

  const ink = ({ kind, value }) => (kind === "layer" ? (value < 0 ? "var(--arm-1)" : "var(--arm-2)") : "var(--zero)");

  function draw(box) {
    const bars = placed();
    const steps = bars.filter((bar) => bar.kind === "layer" || bar.kind === "pair").flatMap((bar) => [bar.start, bar.end, ...bar.whisker]);
    const [least, most] = extent(bars.flatMap((bar) => [bar.start, bar.end, ...bar.whisker]));
    // Steps that are small beside the bare stack get an axis that does not start at 0.
    const [low, high] = extent([bars[0].value, ...steps]);
    const isCut = high - low < 0.2 * most;
    const first = isCut ? low - 0.3 * (high - low) : Math.min(0, least);
    const narrow = box.clientWidth < 520;
    const longest = (text) => 7 * Math.max(...bars.map((bar) => text(bar).length)) + 14;
    const left = Math.min((narrow ? 0.3 : 0.35) * box.clientWidth, longest((bar) => bar.name));
    const room = Math.floor((left - 14) / 6.7);
    const name = (at) => (bars[at - 1].name.length > room ? `${bars[at - 1].name.slice(0, room - 1)}…` : bars[at - 1].name);
    plot(box, {
      label: "Time per I/O from the bare stack to the full one, one step per layer; the table below lists the values",
      height: bars.length * 30, margin: { left, top: 6, right: longest((bar) => bar.short) },
      x: {
        domain: [first, most + 0.02 * (most - first)], title: isCut ? "time per I/O (axis does not start at 0)" : "time per I/O",
        text: (ns) => (ns === 0 ? "0" : `${ns < 0 ? "\u2212" : ""}${time(Math.abs(ns))}`), least: (most - first) / 100,
        ticks: ([from, to], pixels) => ticks(from, to, Math.max(2, pixels / 130)),
      },
      y: { domain: [bars.length + 0.5, 0.5], grid: [], ticks: bars.map((bar) => bar.at), text: name },
      marks: ({ x, y }) => bars.map((bar) => [
        rect(x(Math.max(first, bar.start)), x(bar.end), y(bar.at) - 9, y(bar.at) + 9, bar.kind === "pair" ? { class: "pair" } : { fill: ink(bar) }),
        ...(bar.whisker.length ? [line(x(bar.whisker[0]), y(bar.at), x(bar.whisker[1]), y(bar.at), { class: "whisker" })] : []),
        ...(bar.at < bars.length ? [line(x(bar.end), y(bar.at) + 9, x(bar.end), y(bar.at + 1) + (bar.kind === "total" ? 9 : -9), { class: "zero" })] : []),
      ]),
      names: ({ x, y, left: from, right }) => bars.map((bar) => ({ bar, at: Math.max(...[bar.start, bar.end, ...bar.whisker].map(x)) }))
        .filter(({ at }) => at >= from && at <= right + 1)
        .map(({ bar, at }) => text(at + 7, y(bar.at), "start", bar.short, { class: "name" })),
      // A row answers over its whole width.
      points: bars.map((bar) => ({ x: bar.end, y: bar.at, x1: first, x2: most, y1: bar.at - 0.5, y2: bar.at + 0.5, colour: ink(bar), bar })),
      tell: ({ bar }) => [bar.name, bar.said],
    });
  }

  return { waterfall: draw };
}
