"use strict";
// Charts of an experiment: returns what draws them in `root`.
function experimentCharts(root, data) {
  const colours = 8;
  const dashes = ["none", "6 3", "2 3", "8 3 2 3"];
  const colour = (arm) => `var(--arm-${(arm % colours) + 1})`;
  const dash = (arm) => dashes[Math.floor(arm / colours) % dashes.length];
  const name = (arm) => `${letter(arm)}  ${data.arms[arm]}`;
  const label = (arm, narrow) => (narrow ? letter(arm) : data.arms[arm].length > 28 ? `${letter(arm)} ${data.arms[arm].slice(0, 25)}…` : data.arms[arm]);
  const letter = (arm) => String.fromCharCode(65 + (arm % 26)) + (arm < 26 ? "" : Math.floor(arm / 26));
  const axisText = { fontSize: 12, color: "var(--muted)" };
  const style = { fontFamily: "inherit", fontSize: "12px", overflow: "visible", background: "transparent" };

  function time(ns) {
    const [unit, scale] = ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["µs", 1e3] : ["ns", 1];
    return `${Number((ns / scale).toPrecision(3))} ${unit}`;
  }

  // Factors people count in, as logarithms, as far apart as their labels are wide.
  function factorTicks([low, high], width) {
    const room = (76 * (high - low)) / width;
    const steps = [2, 5, 10, 20, 50, 100, 1e3, 1e4, 1e5, 1e6, 1e9];
    const ticks = [0];
    for (const side of [-1, 1]) {
      let last = 0;
      for (const log of steps.map(Math.log)) {
        const inside = side < 0 ? -log >= low + room / 2 : log <= high - room / 2;
        if (inside && log - last >= room) {
          ticks.push(side * log);
          last = log;
        }
      }
    }
    return ticks;
  }

  function factorLabel(log, [better, worse]) {
    if (log === 0) return "1x";
    return `${d3.format(",")(Math.round(Math.exp(Math.abs(log))))}x ${log < 0 ? better : worse}`;
  }

  // The axis spans all estimates and as much of the intervals as keeps the estimates apart.
  function domainOf(group) {
    const points = group.rows.flatMap((row) => [row.estimate, row.first_in, row.last_in])
      .concat(0, group.margin).filter((value) => value !== null);
    const reach = Math.max(...points.map(Math.abs));
    const ends = group.rows.flatMap((row) => row.interval ?? [])
      .map((end) => Math.max(-3 * reach, Math.min(3 * reach, end)));
    const [low, high] = [Math.min(...points, ...ends), Math.max(...points, ...ends)];
    const pad = 0.04 * (high - low);
    return [(low - pad) / group.scale, (high + pad) / group.scale];
  }

  function forestRow(cell, group, row, domain) {
    const at = (value) => value / group.scale;
    const inside = (value) => Math.max(domain[0], Math.min(domain[1], at(value)));
    const ink = row.kind === "interaction" ? "var(--muted)" : "var(--fg)";
    const marks = [
      Plot.rect([group.margin], { x1: (m) => at(m[0]), x2: (m) => at(m[1]), fill: "var(--band)" }),
      Plot.ruleX([0], { stroke: "var(--zero)" }),
    ];
    if (row.interval) {
      const [lo, hi] = row.interval;
      marks.push(Plot.ruleY([row], { x1: inside(lo), x2: inside(hi), y: 0, stroke: ink, strokeWidth: 2 }));
      const cut = [lo, hi].filter((end) => at(end) !== inside(end));
      for (const end of cut) {
        const sign = end > 0 ? { text: ["›"], textAnchor: "end" } : { text: ["‹"], textAnchor: "start" };
        marks.push(Plot.text([end], { x: inside, y: 0, ...sign, fill: ink, fontSize: 18, fontWeight: 700 }));
      }
    }
    if (row.first_in !== null) {
      marks.push(Plot.dot([row], { x: at(row.first_in), y: 0.55, r: 4, stroke: "var(--arm-1)", strokeWidth: 1.75, fill: "var(--bg)" }));
    }
    if (row.last_in !== null) {
      marks.push(Plot.dot([row], { x: at(row.last_in), y: -0.55, r: 4, fill: "var(--arm-2)" }));
    }
    if (row.estimate !== null) {
      marks.push(Plot.dot([row], { x: at(row.estimate), y: 0, r: 5.5, symbol: row.kind === "total" ? "diamond" : "square", fill: ink, stroke: "var(--bg)" }));
    }
    cell.replaceChildren(Plot.plot({
      width: cell.clientWidth - padding(cell), height: Math.max(38, row.height) + 1,
      margin: 0, style, ariaLabel: row.spoken,
      x: { domain, axis: null }, y: { domain: [-1, 1], axis: null }, marks,
    }));
    cell.firstChild.setAttribute("role", "img");
  }

  function padding(cell) {
    const computed = getComputedStyle(cell);
    return parseFloat(computed.paddingLeft) + parseFloat(computed.paddingRight);
  }

  function forest() {
    const cells = [...root.querySelectorAll(".forest td.drawing")];
    cells.forEach((cell) => cell.replaceChildren());
    // Measured before anything is drawn: drawings must not decide the height of their rows.
    data.forest.forEach((group) => { group.domain = domainOf(group); });
    // Groups with the same axis can be compared by eye.
    for (const same of d3.group(data.forest.filter((group) => group.shared), (group) => group.axis).values()) {
      const domain = [d3.min(same, (group) => group.domain[0]), d3.max(same, (group) => group.domain[1])];
      same.forEach((group) => { group.domain = domain; });
    }
    cells.filter((cell) => cell.dataset.row).forEach((cell) => {
      data.forest[cell.dataset.group].rows[cell.dataset.row].height = cell.clientHeight;
    });
    for (const cell of cells) {
      const group = data.forest[cell.dataset.group];
      if (cell.dataset.row) {
        forestRow(cell, group, group.rows[cell.dataset.row], group.domain);
        continue;
      }
      const width = cell.clientWidth - padding(cell);
      const ticks = group.ways ? factorTicks(group.domain, width) : Math.max(3, Math.round(width / 70));
      const tickFormat = group.ways ? { tickFormat: (log) => factorLabel(log, group.ways) } : {};
      cell.replaceChildren(Plot.plot({
        width, height: 48, marginTop: 0, marginBottom: 46, marginLeft: 0, marginRight: 0, style,
        ariaLabel: group.axis, x: { domain: group.domain, label: null },
        marks: [
          Plot.axisX({ ...axisText, ticks, ...tickFormat, label: group.axis, labelAnchor: "center", labelOffset: 36, labelArrow: "none" }),
        ],
      }));
      cell.firstChild.setAttribute("role", "img");
    }
  }

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

  // The first of them that are so far apart from each other.
  function apart(wanted, least) {
    const kept = [];
    for (const x of wanted) {
      if (kept.every((other) => Math.abs(other - x) >= least)) kept.push(x);
    }
    return kept;
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
    const levels = d3.range(0, 14).flatMap((e) => [1, 2, 5].map((d) => d * 10 ** e)).filter((ns) => ns >= low && ns <= high);
    const shown = levels.length > 9 ? levels.filter((ns) => Number.isInteger(Math.log10(ns))) : levels;
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
    // Plot takes one dash pattern per mark, not per line.
    plot.querySelectorAll(".curves path").forEach((path, i) => path.setAttribute("stroke-dasharray", dash(shownArms[i])));
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

  // One strip per shown arm.
  function strips(box, arms, options) {
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

  function clock(end) {
    return end > 3 * 3600 ? ["hours", 3600] : end > 180 ? ["minutes", 60] : ["seconds", 1];
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
    const levels = d3.range(0, 14).map((e) => 10 ** e).filter((ns) => ns >= low && ns <= high);
    box.replaceChildren(strips(box, arms, {
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
    const points = data.blocks.points.map(([arm, block, change, used]) => ({ arm, block, ratio: 1 + change, used }));
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
      ? d3.range(-6, 7).flatMap((e) => [1, 2, 5].map((digit) => digit * 10 ** e)).filter((ratio) => ratio >= domain[0] && ratio <= domain[1])
      : d3.ticks(domain[0] - 1, domain[1] - 1, 3).map((change) => 1 + change);
    const height = 84;
    const kept = apart([1, ...ticks].map(Math.log), (18 / height) * Math.log(domain[1] / domain[0])).map(Math.exp);
    box.replaceChildren(strips(box, arms, {
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
    const end = Math.max(0, ...data.series.trials.map((t) => t.start + t.iops.length * step));
    const [unit, scale] = clock(end);
    const points = data.series.trials.flatMap((trial, z) => [...trial.iops, trial.iops.at(-1)].map((y, i) => (
      { z, y, arm: trial.arm, used: trial.used, x: (trial.start + i * step) / scale })));
    const arms = data.shown.filter((arm) => points.some((p) => p.arm === arm));
    if (arms.length === 0) return;
    const drawn = points.filter((p) => arms.includes(p.arm));
    box.replaceChildren(strips(box, arms, {
      plot: { ariaLabel: "Throughput of every trial over time, one strip per arm", x: { domain: [0, end / scale], label: null }, y: { label: null, zero: true, nice: true } },
      marks: [
        Plot.gridY({ ticks: 2, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisY({ ...axisText, ticks: 2, tickFormat: (v) => (v === 0 ? "0" : d3.format("~s")(v)), label: null, tickSize: 0 }),
        Plot.axisX({ ...axisText, ticks: Math.max(2, Math.round(box.clientWidth / 90)), facetAnchor: "bottom", label: `${unit} since the start`, labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
        Plot.line(drawn, { x: "x", y: "y", z: "z", fy: "arm", curve: "step-after", stroke: (p) => (p.used ? colour(p.arm) : "var(--zero)"), strokeWidth: 1.5 }),
        Plot.tip(drawn, Plot.pointer({ x: "x", y: "y", fy: "arm", title: (p) => `${data.arms[p.arm]}\n${d3.format(",")(Math.round(p.y))} IOPS at ${Number(p.x.toFixed(2))} ${unit}` })),
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

  const charts = { latency, heat, blocks, series, schedule, ...operationCharts(data, { time, colour, dash, axisText, style }), ...machineCharts(data, { name, axisText, style }) };
  return function draw() {
    forest();
    for (const [id, chart] of Object.entries(charts)) {
      const box = root.querySelector(`[data-chart="${id}"]`);
      if (box) chart(box);
    }
  };
}
