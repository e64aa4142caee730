// Charts of an experiment: returns what draws them in `root`.
function experimentCharts(root, data) {
  const dash = (arm) => ["none", "6 3", "2 3", "8 3 2 3"][Math.floor(arm / 8) % 4];
  const name = (arm) => `${letter(arm)}  ${data.arms[arm]}`;
  const label = (arm, narrow) => (narrow ? letter(arm) : data.arms[arm].length > 28 ? `${letter(arm)} ${data.arms[arm].slice(0, 25)}…` : data.arms[arm]);

  // Names at the right ends of lines, moved apart where they would meet.
  function nameEnds(box, ends, x) {
    const plot = box.querySelector("svg");
    const gap = 15;
    const sorted = ends.sort((a, b) => a.y - b.y);
    const [top, bottom] = [8, plot.viewBox.baseVal.height - 46];
    sorted.forEach((end, i) => { end.at = Math.max(top, end.y, i === 0 ? 0 : sorted[i - 1].at + gap); });
    for (let i = sorted.length - 1, low = bottom; i >= 0; i -= 1) {
      sorted[i].at = Math.min(sorted[i].at, low);
      low = sorted[i].at - gap;
    }
    const layer = d3.select(plot).append("g").attr("font-size", 12).attr("aria-hidden", "true");
    for (const end of sorted) {
      layer.append("path").attr("d", `M${x + 2},${end.y}L${x + 12},${end.at}`).attr("stroke", colour(end.arm)).attr("fill", "none");
      layer.append("text").attr("x", x + 16).attr("y", end.at).attr("dy", "0.32em").attr("text-anchor", "start").attr("fill", "var(--fg)").text(end.text);
    }
  }

  // Percentiles on a scale of nines: each further nine takes as much room as the one before. First
  // up to p99, where a comparison has samples enough; the tail on demand.
  let hasTail = false;
  function latency(box) {
    const nines = (q) => -Math.log10(1 - q);
    // Below it a curve only shows how fast the luckiest I/Os were, and squeezes the rest.
    const first = 0.1;
    const all = data.latency.flatMap((curve, arm) => curve.filter(([q]) => q >= first).map(([q, ns]) => ({ arm, q, x: nines(q), ns })));
    if (all.length === 0) return;
    const points = hasTail ? all : all.filter((p) => p.q <= 0.99 + 1e-9);
    const last = Math.max(...points.map((p) => p.x));
    const narrow = box.clientWidth < 520;
    const shownArms = data.shown.filter((arm) => points.some((p) => p.arm === arm));
    const [low, high] = d3.extent(points, (p) => p.ns);
    const shown = decades(low, high, 9);
    const others = points.filter((p) => !data.shown.includes(p.arm));
    const drawn = points.filter((p) => data.shown.includes(p.arm));
    const marginRight = Math.min(0.35 * box.clientWidth, 30 + 7 * Math.max(...shownArms.map((arm) => label(arm, narrow).length)));
    const scale = (box.clientWidth - 58 - marginRight) / (last - nines(first));
    const ticks = apart([0.99, 0.9, 0.999, 0.9999, 0.99999, 0.999999, 0.5, first, 0.95, 0.75, 0.25].map(nines).filter((x) => x <= last + 1e-9), 52 / scale);
    const plot = Plot.plot({
      width: box.clientWidth, height: narrow ? 320 : 420, marginLeft: 58, marginRight, marginBottom: 44, marginTop: 12, style,
      ariaLabel: "Latency percentiles of each arm; the table below has the figures",
      x: { domain: [nines(first), last], label: null }, y: { type: "log", axis: null },
      marks: [
        Plot.gridY(shown, { stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisX(ticks, { ...axisText, tickFormat: (x) => "p" + Number((100 * (1 - 10 ** -x)).toFixed(5)), label: "percentile", labelAnchor: "center", labelOffset: 40, labelArrow: "none" }),
        Plot.text(shown, { y: (ns) => ns, frameAnchor: "left", textAnchor: "end", dx: -8, text: time, fill: "var(--muted)", fontSize: 12 }),
        Plot.line(others, { x: "x", y: "ns", z: "arm", stroke: "var(--line)", strokeWidth: 1 }),
        Plot.line(drawn, { x: "x", y: "ns", z: "arm", stroke: (p) => colour(p.arm), strokeWidth: 2, className: "curves" }),
        Plot.tip(points, Plot.pointer({ x: "x", y: "ns", title: (p) => `${data.arms[p.arm]}\np${Number((100 * p.q).toFixed(5))}: ${time(p.ns)}` })),
      ],
    });
    dashLines(plot, ".curves path", shownArms.map(dash));
    box.replaceChildren(plot);
    const end = (arm) => drawn.filter((p) => p.arm === arm).at(-1);
    const ends = shownArms.map((arm) => ({ arm, text: label(arm, narrow), y: plot.scale("y").apply(end(arm).ns) }));
    nameEnds(box, ends, box.clientWidth - marginRight);
    if (all.some((p) => p.q > 0.99 + 1e-9)) box.append(tailSwitch(box));
  }

  function tailSwitch(box) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = hasTail ? "Up to p99 only" : "Show the tail beyond p99";
    button.addEventListener("click", () => {
      hasTail = !hasTail;
      latency(box);
      box.querySelector("button").focus();
    });
    return button;
  }

  // How the I/Os of each trial are spread over latencies, from left to right as time went by.
  function heat(box) {
    const { trials, edges } = data.heat;
    if (trials.length === 0) return;
    const counts = new Map();
    const cells = trials.flatMap((trial) => {
      const number = (counts.get(trial.arm) ?? 0) + 1;
      counts.set(trial.arm, number);
      return trial.share.map((share, i) => ({ trial, number, share, i }));
    }).map(({ trial, number, share, i }) => ({
      arm: trial.arm, number, share, x1: number - 0.5, x2: number + 0.5, y1: edges[trial.first + i], y2: edges[trial.first + i + 1],
    })).filter((cell) => cell.share > 0);
    const end = Math.max(...counts.values());
    const arms = data.shown.filter((arm) => trials.some((trial) => trial.arm === arm));
    const [low, high] = [d3.min(cells, (c) => c.y1), d3.max(cells, (c) => c.y2)];
    const levels = decades(low, high, 0);
    box.replaceChildren(strips(box, arms, name, {
      height: arms.length > 8 ? 60 : 92,
      plot: { ariaLabel: "How latencies were spread in each trial, one strip per arm", x: { domain: [0.5, end + 0.5], label: null }, y: { type: "log", domain: [low, high], axis: null } },
      marks: [
        Plot.rect(cells, { insetRight: end > 100 ? 0 : 1, x1: "x1", x2: "x2", y1: "y1", y2: "y2", fy: "arm", fill: (c) => colour(c.arm), fillOpacity: (c) => 0.06 + 0.94 * Math.sqrt(c.share), title: (c) => `${data.arms[c.arm]}, trial ${c.number}: ${(100 * c.share).toPrecision(2)} % between ${time(c.y1)} and ${time(c.y2)}` }),
        Plot.gridY(levels, { stroke: "var(--line)", strokeOpacity: 0.8 }),
        Plot.axisY(levels, { ...axisText, text: time, label: null, tickSize: 0 }),
        Plot.axisX(d3.ticks(1, end, Math.min(end, Math.round(box.clientWidth / 60))).filter(Number.isInteger), { ...axisText, tickFormat: "d", tickSize: 0, facetAnchor: "bottom", label: "trial, in the order in which they ran", labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
      ],
    }));
  }

  // Each block's own difference: what the estimate is the mean of, and whether it drifts. In percent,
  // or, where one of them is twice as much or half of it, in factors.
  function blocks(box) {
    const { margin, label: axis } = data.blocks;
    const points = data.blocks.points.map(([arm, block, ratio, used]) => ({ arm, block, ratio, used }));
    const arms = data.shown.filter((arm) => points.some((p) => p.arm === arm));
    if (arms.length === 0) return;
    const shown = points.filter((p) => arms.includes(p.arm));
    const means = arms.map((arm) => ({ arm, ratio: Math.exp(d3.mean(shown.filter((p) => p.arm === arm && p.used), (p) => Math.log(p.ratio))) }));
    const last = d3.max(shown, (p) => p.block);
    const [lowest, highest] = d3.extent([...shown.map((p) => p.ratio), 1 - margin, 1 + margin]);
    const isFactor = lowest <= 0.5 || highest >= 2;
    const pad = 0.12 * Math.log(highest / lowest);
    const domain = [lowest * Math.exp(-pad), highest * Math.exp(pad)];
    const times = (ratio) => `${Number(ratio.toPrecision(2)).toLocaleString("en")}x`;
    const percent = (ratio) => `${Number((100 * (ratio - 1)).toPrecision(2))} %`.replace("-", "\u2212");
    const said = isFactor ? times : percent;
    const ticks = isFactor
      ? decades(...domain, 9)
      : d3.ticks(domain[0] - 1, domain[1] - 1, 3).map((change) => 1 + change);
    const height = 84;
    const kept = apart([1, ...ticks].map(Math.log), (18 / height) * Math.log(domain[1] / domain[0])).map(Math.exp);
    box.replaceChildren(strips(box, arms, name, {
      height,
      plot: { ariaLabel: `${axis}, block by block, one strip per arm`, x: { domain: [0, last + 1], label: null }, y: { type: "log", label: null, domain } },
      marks: [
        Plot.rect(arms, { fy: (arm) => arm, x1: 0, x2: last + 1, y1: 1 - margin, y2: 1 + margin, fill: "var(--band)" }),
        Plot.ruleY([1], { stroke: "var(--zero)" }),
        Plot.axisY(kept, { ...axisText, text: said, label: null, tickSize: 0 }),
        Plot.axisX({ ...axisText, ticks: Math.min(last, Math.round(box.clientWidth / 60)), tickFormat: "d", facetAnchor: "bottom", label: "block", labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
        Plot.ruleY(means.filter((m) => m.ratio > 0), { fy: "arm", y: "ratio", stroke: (m) => colour(m.arm), strokeDasharray: "4 4" }),
        Plot.dot(shown, { x: "block", y: "ratio", fy: "arm", r: 3.5, fill: (p) => (p.used ? colour(p.arm) : "var(--bg)"), stroke: (p) => (p.used ? colour(p.arm) : "var(--zero)"), title: (p) => `block ${p.block}: ${isFactor ? times(p.ratio) : `${(100 * (p.ratio - 1)).toFixed(1)} %`}` }),
      ],
    }));
  }

  function series(box) {
    const step = data.series.seconds_per_point;
    const end = Math.max(0, ...data.series.trials.map((t) => t.start + t.rates.length * step));
    const [unit, scale] = clock(end);
    const { domains, grid, axis } = overTime(box, [unit, scale], end);
    const points = data.series.trials.flatMap((trial, z) => [...trial.rates, trial.rates.at(-1)].map((y, i) => (
      { z, y, arm: trial.arm, used: trial.used, x: (trial.start + i * step) / scale })));
    const arms = data.shown.filter((arm) => points.some((p) => p.arm === arm));
    if (arms.length === 0) return;
    const drawn = points.filter((p) => arms.includes(p.arm));
    box.replaceChildren(strips(box, arms, name, {
      plot: { ariaLabel: "Throughput of every trial over time, one strip per arm", ...domains },
      marks: [
        grid, axis,
        Plot.axisY({ ...axisText, ticks: 2, tickFormat: (v) => (v === 0 ? "0" : d3.format("~s")(v)), label: null, tickSize: 0 }),
        Plot.line(drawn, { x: "x", y: "y", z: "z", fy: "arm", curve: "step-after", stroke: (p) => (p.used ? colour(p.arm) : "var(--zero)"), strokeWidth: 1.5 }),
        Plot.tip(drawn, Plot.pointer({ x: "x", y: "y", fy: "arm", title: (p) => `${data.arms[p.arm]}\n${d3.format(",")(p.y < 100 ? Number(p.y.toPrecision(3)) : Math.round(p.y))} ${data.series.unit} at ${Number(p.x.toFixed(2))} ${unit}` })),
      ],
    }));
  }

  function schedule(box) {
    const { cells, shown_blocks: count } = data.schedule;
    if (cells.length === 0) return;
    const trials = cells.map(([block, place, arm, used]) => ({ block, place, arm, used }));
    const places = Math.max(...trials.map((t) => t.place)) + 1;
    // A plain run has one column per trial; a column is at most as wide as a hand's finger.
    const width = Math.min(box.clientWidth, 62 + count * 46);
    const column = (width - 62) / count;
    const every = Math.max(1, Math.ceil(26 / column));
    box.replaceChildren(Plot.plot({
      width, height: places * 24 + 56, marginLeft: 50, marginRight: 12, marginTop: 6, marginBottom: 44, style,
      ariaLabel: "Order of trials: one column per block, coloured and lettered by arm",
      x: { domain: d3.range(count), label: null, padding: column > 8 ? 0.1 : 0 }, y: { domain: d3.range(places), label: null, padding: 0.12 },
      marks: [
        Plot.axisX(d3.range(0, count, every), { ...axisText, tickSize: 0, tickFormat: (b) => String(b + 1), label: "block", labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
        Plot.axisY({ ...axisText, tickSize: 0, tickFormat: (p) => String(p + 1), label: null }),
        Plot.cell(trials, { x: "block", y: "place", fill: (t) => (t.used ? colour(t.arm) : "transparent"), stroke: (t) => colour(t.arm), strokeWidth: 1.5, inset: 1, rx: 2 }),
        column >= 14 ? Plot.text(trials, { x: "block", y: "place", text: (t) => letter(t.arm), fill: (t) => (t.used ? "var(--bg)" : "var(--fg)"), fontWeight: 650, fontSize: 11 }) : null,
      ],
    }));
  }

  const charts = { latency, heat, blocks, series, schedule, ...operationCharts(data, dash), ...machineCharts(data, name) };
  const forest = forestCharts(root, data);
  return function draw() {
    forest();
    for (const [id, chart] of Object.entries(charts)) {
      const box = root.querySelector(`[data-chart="${id}"]`);
      if (box) chart(box);
    }
  };
}
