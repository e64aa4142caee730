// Charts of what the machine did: one strip per arm, one line per device, mode or operation.
function machineCharts(data, { name, axisText, style }) {
  const machine = data.machine;
  // Not the arms' order: a line's colour says which device or mode it is, its strip which arm.
  const colour = (name) => `var(--arm-${((name * 3) % 8) + 1})`;
  const dash = (name) => ["none", "6 3", "2 3"][Math.floor(name / 8) % 3];

  function legend(chart) {
    const list = document.createElement("ul");
    list.className = "legend";
    chart.names.forEach((name, i) => {
      const item = document.createElement("li");
      const key = document.createElement("span");
      key.className = "swatch";
      key.style.setProperty("--c", colour(i));
      item.append(key, ` ${name}`);
      list.append(item);
    });
    return list;
  }

  function draw(box, chart) {
    const end = Math.max(0, ...machine.edges.map((edges) => edges.at(-1)));
    const [unit, scale] = end > 3 * 3600 ? ["hours", 3600] : end > 180 ? ["minutes", 60] : ["seconds", 1];
    const points = chart.lines.filter((line) => data.shown.includes(line.arm)).flatMap((line, z) => {
      const edges = machine.edges[line.edges];
      return edges.map((edge, i) => {
        // A line ends where its last interval does.
        const y = line.values[Math.min(i, line.values.length - 1)];
        return { z, x: edge / scale, y: y === null ? NaN : y, arm: line.arm, name: line.name, used: line.used };
      });
    });
    const arms = data.shown.filter((arm) => chart.lines.some((line) => line.arm === arm));
    const height = arms.length > 6 ? 46 : 64;
    const plot = Plot.plot({
      width: box.clientWidth, height: arms.length * (height + 24) + 50, marginLeft: 46, marginRight: 12, marginBottom: 44, marginTop: 22, style,
      ariaLabel: `${chart.label} of every trial over time, one strip per arm`,
      fy: { domain: arms, axis: null, padding: 0.32 },
      x: { domain: [0, end / scale], label: null }, y: { label: null, zero: true, nice: true },
      marks: [
        Plot.gridY({ ticks: 2, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisY({ ...axisText, ticks: 2, tickFormat: (v) => (v < 1 ? String(v) : d3.format("~s")(v)), label: null, tickSize: 0 }),
        Plot.axisX({ ...axisText, ticks: Math.max(2, Math.round(box.clientWidth / 90)), facetAnchor: "bottom", label: `${unit} since the start`, labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
        Plot.line(points, { x: "x", y: "y", z: "z", fy: "arm", curve: "step-after", stroke: (p) => (p.used ? colour(p.name) : "var(--zero)"), strokeWidth: 1.5 }),
        Plot.tip(points.filter((p) => !Number.isNaN(p.y)), Plot.pointer({ x: "x", y: "y", fy: "arm", title: (p) => `${chart.names[p.name]}\n${Number(p.y.toPrecision(3))}` })),
        Plot.text(arms, { fy: (arm) => arm, frameAnchor: "top-left", dy: -6, lineAnchor: "bottom", text: name, fill: "var(--fg)", fontSize: 12 }),
      ],
    });
    // Plot takes one dash pattern per mark, not per line; its lines are in the order of facets.
    const drawn = arms.flatMap((arm) => chart.lines.filter((line) => line.arm === arm));
    plot.querySelectorAll('[aria-label="line"] path').forEach((path, i) => {
      path.setAttribute("stroke-dasharray", drawn[i] ? dash(drawn[i].name) : "none");
    });
    box.replaceChildren(...(chart.names.length > 1 ? [legend(chart)] : []), plot);
  }

  return Object.fromEntries(machine.charts.map((chart) => [chart.id, (box) => draw(box, chart)]));
}

// How long operations took: the share of them that was done by then.
function operationCharts(data, { time, colour, dash, axisText, style }) {
  function draw(box, chart) {
    const points = chart.curves.filter(({ arm }) => data.shown.includes(arm)).flatMap(({ arm, points }) => points.map(([q, ns]) => ({ arm, q: 100 * q, ns })));
    if (points.length === 0) return;
    const arms = data.shown.filter((arm) => points.some((p) => p.arm === arm));
    const [low, high] = d3.extent([...points.map((p) => p.ns), ...(chart.slow_ns ? [chart.slow_ns] : [])]);
    const levels = d3.range(0, 14).flatMap((e) => [1, 2, 5].map((d) => d * 10 ** e)).filter((ns) => ns >= low && ns <= high);
    const ticks = levels.length > box.clientWidth / 90 ? levels.filter((ns) => Number.isInteger(Math.log10(ns))) : levels;
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
    plot.querySelectorAll(".curves path").forEach((path, i) => path.setAttribute("stroke-dasharray", dash(arms[i])));
    box.replaceChildren(plot);
  }

  return Object.fromEntries(data.operations.map((chart) => [chart.id, (box) => draw(box, chart)]));
}
