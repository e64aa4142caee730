// Rows of figures with an interval drawn beside each: returns what draws them in `root`.
function forestCharts(root, { forest }) {
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

  // Round values, but for those whose labels would be cut at either end.
  function plainTicks([low, high], width) {
    const count = Math.max(3, Math.round(width / 70));
    const room = (16 * (high - low)) / width;
    return {
      ticks: d3.ticks(low, high, count).filter((tick) => tick >= low + room && tick <= high - room),
      tickFormat: d3.scaleLinear([low, high], [0, width]).tickFormat(count),
    };
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

  return function draw() {
    const cells = [...root.querySelectorAll(".forest td.drawing")];
    cells.forEach((cell) => cell.replaceChildren());
    // Measured before anything is drawn: drawings must not decide the height of their rows.
    forest.forEach((group) => { group.domain = domainOf(group); });
    // Groups with the same axis can be compared by eye.
    for (const same of d3.group(forest.filter((group) => group.shared), (group) => group.axis).values()) {
      const domain = [d3.min(same, (group) => group.domain[0]), d3.max(same, (group) => group.domain[1])];
      same.forEach((group) => { group.domain = domain; });
    }
    cells.filter((cell) => cell.dataset.row).forEach((cell) => {
      forest[cell.dataset.group].rows[cell.dataset.row].height = cell.clientHeight;
    });
    for (const cell of cells) {
      const group = forest[cell.dataset.group];
      if (cell.dataset.row) {
        forestRow(cell, group, group.rows[cell.dataset.row], group.domain);
        continue;
      }
      const width = cell.clientWidth - padding(cell);
      const ticks = group.ways
        ? { ticks: factorTicks(group.domain, width), tickFormat: (log) => factorLabel(log, group.ways) }
        : plainTicks(group.domain, width);
      cell.replaceChildren(Plot.plot({
        width, height: 48, marginTop: 0, marginBottom: 46, marginLeft: 0, marginRight: 0, style,
        ariaLabel: group.axis, x: { domain: group.domain, label: null },
        marks: [
          Plot.axisX({ ...axisText, ...ticks, label: group.axis, labelAnchor: "center", labelOffset: 36, labelArrow: "none" }),
        ],
      }));
      cell.firstChild.setAttribute("role", "img");
    }
  };
}
