// Rows of figures with drawn intervals: returns what draws them in `root`.
function forestCharts(root, { forest }) {
  // Common factors as logarithms, with enough distance for their labels.
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

  // Round values, except those whose labels would be cut off at an end.
  function plainTicks([low, high], width) {
    const count = Math.max(3, Math.round(width / 70));
    const room = (16 * (high - low)) / width;
    const step = tickStep(low, high, count);
    const digits = step < 0 ? Math.ceil(Math.log10(-step) - 1e-9) : 0;
    return {
      values: ticks(low, high, count).filter((tick) => tick >= low + room && tick <= high - room),
      written: (tick) => tick.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "\u2212"),
    };
  }

  function factorLabel(log, [better, worse]) {
    if (log === 0) return "1x";
    return `${grouped(Math.round(Math.exp(Math.abs(log))))}x ${log < 0 ? better : worse}`;
  }

  // The axis spans all estimates, and as much of the intervals as keeps the estimates distinguishable.
  function domainOf(group) {
    const points = group.rows.flatMap((row) => [row.estimate, row.first_in, row.last_in])
      .concat(0, group.margin).filter((value) => value !== null);
    const reach = Math.max(...points.map(Math.abs));
    const ends = group.rows.flatMap((row) => row.interval ?? [])
      .map((end) => Math.max(-3 * reach, Math.min(3 * reach, end)));
    const [low, high] = [Math.min(...points, ...ends), Math.max(...points, ...ends)];
    const pad = 0.04 * (high - low || 1);
    return [(low - pad) / group.scale, (high + pad) / group.scale];
  }

  function forestRow(cell, group, row, domain) {
    const at = (value) => value / group.scale;
    const inside = (value) => Math.max(domain[0], Math.min(domain[1], at(value)));
    const ink = row.kind === "interaction" ? "var(--muted)" : "var(--fg)";
    const [width, height] = [cell.clientWidth - padding(cell), Math.max(38, row.height) + 1];
    const x = scaled("linear", domain, [0, width]);
    const y = (value) => (height * (1 - value)) / 2;
    const svg = drawing(width, height, row.spoken);
    svg.append(rect(x(at(group.margin[0])), x(at(group.margin[1])), 0, height, { class: "band" }), line(x(0), 0, x(0), height, { class: "zero" }));
    if (row.interval) {
      const [lo, hi] = row.interval;
      svg.append(line(x(inside(lo)), y(0), x(inside(hi)), y(0), { stroke: ink, "stroke-width": 2 }));
      for (const end of [lo, hi].filter((end) => at(end) !== inside(end))) {
        const [sign, anchor] = end > 0 ? ["›", "end"] : ["‹", "start"];
        svg.append(text(x(inside(end)), y(0), anchor, sign, { class: "beyond" }));
      }
    }
    const circle = (value, up, more) => element("circle", { cx: x(at(value)), cy: y(up), r: 4, ...more });
    if (row.first_in !== null) svg.append(circle(row.first_in, 0.55, { fill: "var(--bg)", stroke: "var(--arm-1)", "stroke-width": 1.75 }));
    if (row.last_in !== null) svg.append(circle(row.last_in, -0.55, { fill: "var(--arm-2)" }));
    if (row.estimate !== null) {
      const shape = row.kind === "total" ? "m0,-9l5.2,9l-5.2,9l-5.2,-9z" : "m-5,-5h10v10h-10z";
      svg.append(element("path", { d: `M${x(at(row.estimate))},${y(0)}${shape}`, fill: ink, stroke: "var(--bg)" }));
    }
    cell.replaceChildren(svg);
  }

  function axis(cell, group) {
    const width = cell.clientWidth - padding(cell);
    const { values, written } = group.ways
      ? { values: factorTicks(group.domain, width), written: (log) => factorLabel(log, group.ways) }
      : plainTicks(group.domain, width);
    const x = scaled("linear", group.domain, [0, width]);
    const svg = drawing(width, 46, group.axis);
    svg.append(element("g", { class: "axis" }, ...values.flatMap((tick) => [line(x(tick), 0, x(tick), 5), text(x(tick), 15, "middle", written(tick))])));
    svg.lastChild.append(text(width / 2, 34, "middle", group.axis));
    cell.replaceChildren(svg);
  }

  function padding(cell) {
    const computed = getComputedStyle(cell);
    return parseFloat(computed.paddingLeft) + parseFloat(computed.paddingRight);
  }

  return function draw() {
    const cells = [...root.querySelectorAll(".forest td.drawing")];
    cells.forEach((cell) => cell.replaceChildren());
    // Measured before drawing, because drawings must not affect the height of rows.
    forest.forEach((group) => { group.domain = domainOf(group); });
    // Groups with the same axis use the same scale.
    for (const group of forest.filter((group) => group.shared)) {
      const same = forest.filter((other) => other.shared && other.axis === group.axis);
      const domain = extent(same.flatMap((other) => other.domain));
      same.forEach((other) => { other.domain = domain; });
    }
    cells.filter((cell) => cell.dataset.row).forEach((cell) => {
      forest[cell.dataset.group].rows[cell.dataset.row].height = cell.clientHeight;
    });
    for (const cell of cells) {
      const group = forest[cell.dataset.group];
      if (cell.dataset.row) forestRow(cell, group, group.rows[cell.dataset.row], group.domain);
      else axis(cell, group);
    }
  };
}
