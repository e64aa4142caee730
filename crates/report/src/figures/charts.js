"use strict";
(function () {
  const data = JSON.parse(document.getElementById("charts").textContent);
  const colours = 8;
  const dashes = ["none", "6 3", "2 3", "8 3 2 3"];
  const colour = (arm) => `var(--arm-${(arm % colours) + 1})`;
  const dash = (arm) => dashes[Math.floor(arm / colours) % dashes.length];
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
      marks.push(Plot.text(cut, { x: inside, y: 0, text: (end) => (end > 0 ? "›" : "‹"), fill: ink, fontSize: 18, fontWeight: 700 }));
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
    const cells = [...document.querySelectorAll(".forest td.drawing")];
    cells.forEach((cell) => cell.replaceChildren());
    // Measured before anything is drawn: drawings must not decide the height of their rows.
    data.forest.forEach((group) => { group.domain = domainOf(group); });
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

  // Percentiles on a scale of nines: each further nine takes as much room as the one before.
  function latency(box) {
    const nines = (q) => -Math.log10(1 - q);
    // Below it a curve only shows how fast the luckiest I/Os were, and squeezes the rest.
    const first = 0.1;
    const points = data.latency.flatMap((curve, arm) => curve.filter(([q]) => q >= first).map(([q, ns]) => ({ arm, q, x: nines(q), ns })));
    if (points.length === 0) return;
    const last = Math.max(...points.map((p) => p.x));
    const narrow = box.clientWidth < 520;
    const ticks = [first, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999].slice(narrow ? 1 : 0).map(nines).filter((x) => x <= last + 1e-9);
    // Letters sit at a different place on each curve, so that curves on top of each other still
    // show both.
    const labels = data.latency.flatMap((curve, arm) => {
      if (!curve.some(([q]) => q >= first)) return [];
      const wanted = (last * (arm + 0.7)) / (data.latency.length + 0.4);
      const distance = ([q]) => Math.abs(nines(q) - wanted);
      const [q, ns] = curve.filter(([q]) => q >= first).reduce((a, b) => (distance(b) < distance(a) ? b : a));
      return [{ arm, x: nines(q), ns }];
    });
    const [low, high] = d3.extent(points, (p) => p.ns);
    const levels = d3.range(0, 14).flatMap((e) => [1, 2, 5].map((d) => d * 10 ** e)).filter((ns) => ns >= low && ns <= high);
    const shown = levels.length > 9 ? levels.filter((ns) => Number.isInteger(Math.log10(ns))) : levels;
    box.replaceChildren(Plot.plot({
      width: box.clientWidth, height: narrow ? 300 : 400, marginLeft: 58, marginRight: 24, marginBottom: 44, marginTop: 12, style,
      ariaLabel: "Latency percentiles of each arm; the table below has the figures",
      x: { domain: [nines(first), last], label: null }, y: { type: "log", axis: null },
      marks: [
        Plot.gridY(shown, { stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisX(ticks, { ...axisText, tickFormat: (x) => "p" + Number((100 * (1 - 10 ** -x)).toFixed(5)), label: "percentile", labelAnchor: "center", labelOffset: 40, labelArrow: "none" }),
        Plot.text(shown, { y: (ns) => ns, frameAnchor: "left", textAnchor: "end", dx: -8, text: time, fill: "var(--muted)", fontSize: 12 }),
        Plot.line(points, { x: "x", y: "ns", z: "arm", stroke: (p) => colour(p.arm), strokeWidth: 2 }),
        Plot.dot(labels, { x: "x", y: "ns", r: 9, fill: "var(--bg)", stroke: (p) => colour(p.arm), strokeWidth: 2 }),
        Plot.text(labels, { x: "x", y: "ns", text: (p) => letter(p.arm), fill: "var(--fg)", fontWeight: 650, fontSize: 11 }),
        Plot.tip(points, Plot.pointer({ x: "x", y: "ns", title: (p) => `${data.arms[p.arm]}\np${Number((100 * p.q).toFixed(5))}: ${time(p.ns)}` })),
      ],
    }));
    dashLines(box);
  }

  // Plot takes one dash pattern per mark, not per line.
  function dashLines(box) {
    box.querySelectorAll('[aria-label="line"] path').forEach((path, i) => {
      const arms = data.latency.map((curve, arm) => (curve.some(([q]) => q >= 0.1) ? arm : -1)).filter((arm) => arm >= 0);
      path.setAttribute("stroke-dasharray", dash(arms[i]));
    });
  }

  function series(box) {
    const step = data.series.seconds_per_point;
    const end = Math.max(0, ...data.series.trials.map((t) => t.start + t.iops.length * step));
    const [unit, scale] = end > 3 * 3600 ? ["hours", 3600] : end > 180 ? ["minutes", 60] : ["seconds", 1];
    const points = data.series.trials.flatMap((trial, z) => [...trial.iops, trial.iops.at(-1)].map((y, i) => (
      { z, y, arm: trial.arm, used: trial.used, x: (trial.start + i * step) / scale })));
    if (points.length === 0) return;
    const arms = data.arms.map((name, arm) => ({ name, arm })).filter(({ arm }) => data.series.trials.some((t) => t.arm === arm));
    const height = arms.length > 8 ? 46 : 62;
    box.replaceChildren(Plot.plot({
      width: box.clientWidth, height: arms.length * (height + 24) + 50, marginLeft: 52, marginRight: 12, marginBottom: 44, marginTop: 22, style,
      ariaLabel: "Throughput of every trial over time, one strip per arm",
      fy: { domain: arms.map((a) => a.arm), axis: null, padding: 0.32 },
      x: { domain: [0, end / scale], label: null }, y: { label: null, zero: true, nice: true },
      marks: [
        Plot.gridY({ ticks: 2, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisY({ ...axisText, ticks: 2, tickFormat: (v) => (v === 0 ? "0" : d3.format("~s")(v)), label: null, tickSize: 0 }),
        Plot.axisX({ ...axisText, facetAnchor: "bottom", label: `${unit} since the start`, labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
        Plot.line(points, { x: "x", y: "y", z: "z", fy: "arm", curve: "step-after", stroke: (p) => (p.used ? colour(p.arm) : "var(--zero)"), strokeWidth: 1.5 }),
        Plot.text(arms, { fy: "arm", frameAnchor: "top-left", dy: -6, lineAnchor: "bottom", text: (a) => `${letter(a.arm)}  ${a.name}`, fill: "var(--fg)", fontSize: 12 }),
      ],
    }));
  }

  function schedule(box) {
    const { cells, shown_blocks: blocks } = data.schedule;
    if (cells.length === 0) return;
    const trials = cells.map(([block, place, arm, used]) => ({ block, place, arm, used }));
    const places = Math.max(...trials.map((t) => t.place)) + 1;
    // A plain run has one column per trial; a column is at most as wide as a hand's finger.
    const width = Math.min(box.clientWidth, 62 + blocks * 46);
    const column = (width - 62) / blocks;
    const every = Math.max(1, Math.ceil(26 / column));
    box.replaceChildren(Plot.plot({
      width, height: places * 24 + 56, marginLeft: 50, marginRight: 12, marginTop: 6, marginBottom: 44, style,
      ariaLabel: "Order of trials: one column per block, coloured and lettered by arm",
      x: { domain: d3.range(blocks), label: null, padding: column > 8 ? 0.1 : 0 }, y: { domain: d3.range(places), label: null, padding: 0.12 },
      marks: [
        Plot.axisX(d3.range(0, blocks, every), { ...axisText, tickSize: 0, tickFormat: (b) => String(b + 1), label: "block", labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
        Plot.axisY({ ...axisText, tickSize: 0, tickFormat: (p) => String(p + 1), label: null }),
        Plot.cell(trials, { x: "block", y: "place", fill: (t) => (t.used ? colour(t.arm) : "transparent"), stroke: (t) => colour(t.arm), strokeWidth: 1.5, inset: 1, rx: 2 }),
        column >= 14 ? Plot.text(trials, { x: "block", y: "place", text: (t) => letter(t.arm), fill: (t) => (t.used ? "var(--bg)" : "var(--fg)"), fontWeight: 650, fontSize: 11 }) : null,
      ],
    }));
  }

  const charts = { latency, series, schedule, ...machineCharts(data, { letter, axisText, style }) };
  function draw() {
    forest();
    for (const [id, chart] of Object.entries(charts)) {
      const box = document.getElementById(id);
      if (box) {
        chart(box);
        box.querySelector("svg")?.setAttribute("role", "img");
      }
    }
    document.documentElement.dataset.charts = document.querySelectorAll("main svg").length;
  }

  let drawn = 0;
  function redraw() {
    const width = document.documentElement.clientWidth;
    if (width !== drawn) {
      drawn = width;
      draw();
    }
  }
  redraw();
  let pending = 0;
  addEventListener("resize", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(redraw); });
})();
