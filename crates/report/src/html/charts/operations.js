// How long operations took: the share of them that was done by then.
function operationCharts(data, dash) {
  function draw(box, chart) {
    const points = chart.curves.filter(({ arm }) => data.shown.includes(arm)).flatMap(({ arm, points }) => points.map(([q, ns]) => ({ arm, q: 100 * q, ns })));
    if (points.length === 0) return;
    const arms = data.shown.filter((arm) => points.some((p) => p.arm === arm));
    const [low, high] = d3.extent([...points.map((p) => p.ns), ...(chart.slow_ns ? [chart.slow_ns] : [])]);
    const ticks = decades(low, high, box.clientWidth / 90);
    const limit = chart.slow_ns ? [chart.slow_ns] : [];
    const plot = Plot.plot({
      width: box.clientWidth, height: 280, marginLeft: 46, marginRight: 16, marginBottom: 44, marginTop: 22, style,
      ariaLabel: `${chart.title}: share done by then, one line per arm`,
      x: { type: "log", domain: [low, high], label: null, axis: null }, y: { domain: [0, 100], label: null },
      marks: [
        Plot.gridY([0, 25, 50, 75, 100], { stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisY([0, 50, 100], { ...axisText, tickFormat: (v) => `${v} %`, label: null, tickSize: 0 }),
        Plot.axisX(ticks, { ...axisText, text: time, label: null }),
        Plot.ruleX(limit, { stroke: "var(--worse)", strokeDasharray: "4 4" }),
        Plot.text(limit, { x: (ns) => ns, frameAnchor: "top", dy: -14, text: (ns) => time(ns), fill: "var(--worse)", fontSize: 12 }),
        Plot.line(points, { x: "ns", y: "q", z: "arm", stroke: (p) => colour(p.arm), strokeWidth: 2, className: "curves" }),
        Plot.tip(points, Plot.pointer({ x: "ns", y: "q", title: (p) => `${data.arms[p.arm]}\n${Number(p.q.toFixed(3))} % within ${time(p.ns)}` })),
      ],
    });
    dashLines(plot, ".curves path", arms.map(dash));
    box.replaceChildren(plot);
  }

  return Object.fromEntries(data.operations.map((chart) => [chart.id, (box) => draw(box, chart)]));
}
