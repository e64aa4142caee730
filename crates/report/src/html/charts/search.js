// Charts of a search for caps: returns what draws them in `root`.
function searchCharts(root, data) {
  const capLine = ({ y, left, right }, cap) => line(left, y(cap.value), right, y(cap.value), { stroke: colour(cap.target), "stroke-dasharray": "4 4" });
  const layout = { height: 240, margin: { left: 64, right: 20 } };
  const whole = (values, caps) => [0, 1.08 * Math.max(...values, ...caps.map((cap) => cap.value))];

  // A quantity over queue depth or number of flows. Throughput over flows varies little, so its axis
  // starts at 0; over depth it spans decades.
  function growth(id, quantity, { over, isLinear }) {
    const box = root.querySelector(`[data-chart="${id}"]`);
    const points = data.ladder.filter((point) => point.quantity === quantity && point.value > 0)
      .map(({ target, depth, value }) => ({ target, x: depth, y: value, colour: colour(target) }));
    if (!box || !points.length) return;
    const caps = data.caps.filter((cap) => cap.quantity === quantity);
    const values = points.map((point) => point.y);
    const [low, high] = isLinear ? whole(values, caps) : [Math.min(...values) / 1.25, 1.25 * Math.max(...values)];
    const depths = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
    const round = isLinear ? [] : decades(low, high, 7);
    const targets = [...new Set(points.map((point) => point.target))];
    plot(box, {
      ...layout, label: `${quantity} over ${over}`,
      x: {
        type: "log", domain: [depths[0], depths.at(-1)], title: over, text: String,
        // The measured values, as many as there is room for.
        ticks: ([from, to], pixels) => {
          const shown = depths.filter((depth) => depth >= from * 0.999 && depth <= to * 1.001);
          const every = Math.ceil((34 * (shown.length - 1)) / pixels);
          return shown.filter((_, i) => i % Math.max(1, every) === 0);
        },
      },
      y: { type: isLinear ? "linear" : "log", domain: [low, high], ticks: round.length > 1 ? round : ticks(low, high, 4), text: short },
      marks: (panel) => [
        ...caps.filter(({ value }) => value >= low && value <= high).map((cap) => capLine(panel, cap)),
        ...targets.map((target) => curve(points.filter((p) => p.target === target).map((p) => [panel.x(p.x), panel.y(p.y)]), { class: "curve", stroke: colour(target) })),
        ...points.map((p) => element("circle", { cx: panel.x(p.x), cy: panel.y(p.y), r: 4, fill: p.colour })),
      ],
      points, tell: (p) => [data.names[p.target], `${over} ${p.x}: ${short(p.y)}`],
    });
  }

  function series(id, quantity) {
    const box = root.querySelector(`[data-chart="${id}"]`);
    const lines = data.series.filter((one) => one.quantity === quantity).map((one) => ({ target: one.target, steps: steps(one, one, 1) }));
    const points = lines.flatMap((one) => one.steps.map((step) => ({ ...step, target: one.target, colour: colour(one.target) })));
    if (!box || !points.length) return;
    const caps = data.caps.filter((cap) => cap.quantity === quantity);
    const domain = whole(points.map((point) => point.high ?? point.y), caps);
    plot(box, {
      ...layout, label: `${quantity} over time`,
      x: { ...counted([0, Math.max(...points.map((point) => point.x2))], "seconds") },
      y: { domain, ticks: ticks(...domain, 4), text: short },
      marks: (panel) => [...caps.map((cap) => capLine(panel, cap)), ...lines.map((one) => stepLine(one.steps, panel, colour(one.target)))],
      points, tell: (p) => [data.names[p.target], `${short(p.y)}${p.low === undefined ? "" : ` (${short(p.low)} to ${short(p.high)})`} at ${p.x2} s`],
    });
  }

  return function draw() {
    for (const [id, quantity] of [["ladder-iops", "IOPS"], ["ladder-latency", "mean latency, ms"]]) {
      growth(id, quantity, { over: "queue depth", isLinear: false });
    }
    for (const [id, quantity] of Object.entries(data.flows)) {
      growth(id, quantity, { over: "concurrent flows", isLinear: true });
    }
    series("series-iops", "IOPS");
    series("series-bw", data.unit);
    series("series-path", data.flows["flows-to"]);
  };
}
