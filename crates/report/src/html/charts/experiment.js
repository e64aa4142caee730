// Charts of an experiment: returns what draws them in `root`.
function experimentCharts(root, data) {
  const label = (arm, narrow) => (narrow ? letter(arm) : data.arms[arm].length > 28 ? `${letter(arm)} ${data.arms[arm].slice(0, 25)}…` : data.arms[arm]);
  // One strip for each arm with data.
  const strips = (isThere) => data.shown.filter(isThere).map((arm) => ({ key: arm, name: `${letter(arm)} ${data.arms[arm]}`, colour: colour(arm) }));

  // Names at the right ends of lines, moved apart if they would overlap.
  function nameEnds(ends, { right, top, bottom }) {
    const gap = 15;
    const sorted = ends.sort((a, b) => a.y - b.y);
    sorted.forEach((end, i) => { end.at = Math.max(top, end.y, i === 0 ? 0 : sorted[i - 1].at + gap); });
    for (let i = sorted.length - 1, low = bottom; i >= 0; i -= 1) {
      sorted[i].at = Math.min(sorted[i].at, low);
      low = sorted[i].at - gap;
    }
    return sorted.flatMap((end) => [
      line(right + 2, end.y, right + 12, end.at, { stroke: colour(end.arm) }),
      // A curve with few samples ends before the others.
      ...(end.x < right - 1 ? [line(end.x, end.y, right + 2, end.y, { stroke: colour(end.arm), "stroke-dasharray": "1 5" })] : []),
      text(right + 16, end.at, "start", end.text, { class: "name" }),
    ]);
  }

  // The height of a curve at the end of the visible part.
  function height(points, end) {
    const after = points.findIndex((p) => p.x >= end);
    if (after < 1) return points.at(after).y;
    const [one, other] = [points[after - 1], points[after]];
    return one.y * (other.y / one.y) ** ((end - one.x) / (other.x - one.x));
  }

  // Percentiles on a scale of nines: each further nine takes as much room as the one before. First
  // up to p99, where a comparison has samples enough; the tail on demand.
  let hasTail = false;
  function latency(box) {
    const nines = (q) => -Math.log10(1 - q);
    // Lower percentiles only show the fastest I/Os, and compress the rest.
    const first = 0.1;
    const all = data.latency.flatMap((points, arm) => points.filter(([q]) => q >= first).map(([q, ns]) => ({ arm, q, x: nines(q), y: ns, colour: colour(arm) })));
    if (all.length === 0) return;
    const points = hasTail ? all : all.filter((p) => p.q <= 0.99 + 1e-9);
    const last = Math.max(...points.map((p) => p.x));
    const narrow = box.clientWidth < 520;
    const curves = [...new Set(points.map((p) => p.arm))].map((arm) => ({ arm, isShown: data.shown.includes(arm), points: points.filter((p) => p.arm === arm) }));
    const drawn = curves.filter((one) => one.isShown);
    const [low, high] = extent(points.map((p) => p.y));
    const right = Math.min(0.35 * box.clientWidth, 30 + 7 * Math.max(...drawn.map(({ arm }) => label(arm, narrow).length)));
    const percent = (q) => `p${Number((100 * q).toFixed(5))}`;
    plot(box, {
      label: "Latency percentiles of each arm; the table below lists the values",
      height: narrow ? 252 : 352, margin: { right },
      x: {
        domain: [nines(first), last], title: "percentile", text: (x) => percent(1 - 10 ** -x), least: 0.05,
        ticks: ([from, to], pixels) => {
          const inside = (shares) => shares.map(nines).filter((x) => x >= from - 1e-9 && x <= to + 1e-9);
          const usual = inside([0.99, 0.9, 0.999, 0.9999, 0.99999, 0.999999, 0.5, first, 0.95, 0.75, 0.25]);
          const more = usual.length < 4 ? inside([0.98, 0.8, 0.97, 0.6, 0.96, 0.85, 0.4, 0.94, 0.93, 0.92]) : [];
          return apart([...usual, ...more], (52 * (to - from)) / pixels);
        },
      },
      y: { type: "log", domain: [low, high], ticks: decades(low, high, 9), text: time },
      marks: ({ x, y }) => [...curves.filter((one) => !one.isShown), ...drawn].map((one) => curve(one.points.map((p) => [x(p.x), y(p.y)]), one.isShown
        ? { class: "curve", stroke: colour(one.arm), "stroke-dasharray": dashes(one.arm) } : { stroke: "var(--line)" })),
      names: (panel) => nameEnds(drawn.filter((one) => one.points.at(-1).x > panel.x.domain[0])
        .map((one) => ({ arm: one.arm, text: label(one.arm, narrow), x: panel.x(one.points.at(-1).x), y: panel.y(height(one.points, panel.x.domain[1])) })), panel),
      points, tell: (p) => [data.arms[p.arm], `${percent(p.q)}: ${time(p.y)}`],
      after: all.some((p) => p.q > 0.99 + 1e-9) ? [tailSwitch(box)] : [],
    });
  }

  function tailSwitch(box) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = hasTail ? "Hide the tail beyond p99" : "Show the tail beyond p99";
    button.addEventListener("click", () => {
      hasTail = !hasTail;
      latency(box);
      box.lastChild.focus();
    });
    return button;
  }

  // The latency distribution of each trial, over time from left to right.
  function heat(box) {
    const { columns, edges } = data.heat;
    if (columns.length === 0) return;
    const cells = columns.flatMap(({ arm, trials: [from, to], first, share }) => share.map((part, i) => {
      const [x1, x2, y1, y2] = [from - 0.5, to + 0.5, edges[first + i], edges[first + i + 1]];
      return { key: arm, from, to, share: part / 1e4, x: (x1 + x2) / 2, x1, x2, y: Math.sqrt(y1 * y2), y1, y2, colour: colour(arm) };
    })).filter((cell) => cell.share > 0);
    const [low, high] = [extent(cells.map((c) => c.y1))[0], extent(cells.map((c) => c.y2))[1]];
    const shown = strips((arm) => columns.some((column) => column.arm === arm));
    const tall = shown.length > 8 ? 60 : 84;
    const levels = apart(decades(low, high, 3).map(Math.log10), (20 / tall) * Math.log10(high / low)).map((power) => 10 ** power);
    plot(box, {
      label: "Latency distribution of each trial, one strip per arm", strips: shown, height: tall,
      x: counted([0.5, extent(cells.map((c) => c.to))[1] + 0.5], "trial, in order of execution"),
      y: { type: "log", domain: [low, high], ticks: levels, text: time },
      marks: ({ key, x, y }) => cells.filter((c) => c.key === key).map((c) => {
        const inset = x(c.x2) - x(c.x1) > 6 ? 0.5 : 0;
        return rect(x(c.x1) + inset, x(c.x2) - inset, y(c.y1), y(c.y2), { fill: c.colour, "fill-opacity": (0.06 + 0.94 * Math.sqrt(c.share)).toFixed(3) });
      }),
      points: cells,
      tell: (c) => [`${data.arms[c.key]}, trial${c.from === c.to ? ` ${c.from}` : `s ${c.from} to ${c.to}`}`, `${Number((100 * c.share).toPrecision(2))} % between ${time(c.y1)} and ${time(c.y2)}`],
    });
  }

  // The difference in each block, whose mean is the estimate, and which shows drift. In percent,
  // or in factors if one of them is at least twice or at most half.
  function blocks(box) {
    const { margin, label: axis } = data.blocks;
    const points = data.blocks.points.map(([arm, block, ratio, used]) => ({ key: arm, x: block, y: ratio, used, colour: colour(arm) }));
    const shown = strips((arm) => points.some((p) => p.key === arm));
    if (shown.length === 0) return;
    const last = extent(points.map((p) => p.x))[1];
    const [lowest, highest] = extent([...points.map((p) => p.y), 1 - margin, 1 + margin]);
    const isFactor = lowest <= 0.5 || highest >= 2;
    const pad = 0.12 * Math.log(highest / lowest);
    const domain = [lowest * Math.exp(-pad), highest * Math.exp(pad)];
    const times = (ratio) => `${grouped(Number(ratio.toPrecision(2)))}x`;
    const percent = (ratio) => `${Number((100 * (ratio - 1)).toPrecision(2))} %`.replace("-", "\u2212");
    const wanted = isFactor ? decades(...domain, 9) : ticks(domain[0] - 1, domain[1] - 1, 3).map((change) => 1 + change);
    const tall = 72;
    const kept = apart([1, ...wanted].map(Math.log), (18 / tall) * Math.log(domain[1] / domain[0])).map(Math.exp);
    plot(box, {
      label: `${axis}, difference per block, one strip per arm`, strips: shown, height: tall,
      x: counted([0.5, last + 0.5], "block"),
      y: { type: "log", domain, grid: [], ticks: kept, text: isFactor ? times : percent },
      marks: ({ key, x, y, left, right }) => [
        rect(left, right, y(1 - margin), y(1 + margin), { class: "band" }),
        line(left, y(1), right, y(1), { class: "zero" }),
        ...data.blocks.means.filter(([arm]) => arm === key).map(([, mean]) => line(left, y(mean), right, y(mean), { stroke: colour(key), "stroke-dasharray": "4 4" })),
        ...points.filter((p) => p.key === key).map((p) => element("circle", { cx: x(p.x), cy: y(p.y), r: 3.5, fill: p.used ? p.colour : "var(--bg)", stroke: p.used ? p.colour : "var(--zero)" })),
      ],
      points, tell: (p) => [`block ${p.x}${p.used ? "" : ", not used"}`, isFactor ? times(p.y) : `${(100 * (p.y - 1)).toFixed(1)} %`.replace("-", "\u2212")],
    });
  }

  function series(box) {
    const { spans, unit: counts } = data.series;
    const last = spans.reduce((most, span) => Math.max(most, span.runs.at(-1)[1]), 0);
    const [unit, seconds] = clock(last);
    const lines = spans.map((span) => ({ arm: span.arm, steps: steps(span, span, seconds), colour: span.used ? colour(span.arm) : "var(--zero)", told: data.arms[span.arm] }));
    const shown = strips((arm) => lines.some((line) => line.arm === arm));
    if (shown.length === 0) return;
    overTime(box, {
      label: "Throughput of each trial over time, one strip per arm",
      strips: shown, lines, unit, end: last / seconds, tickText: si,
      amount: (rate) => `${grouped(rate < 100 ? Number(rate.toPrecision(3)) : Math.round(rate))} ${counts}`,
    });
  }

  // The positions of trials in their blocks.
  function schedule(box) {
    const { blocks: order, unused } = data.schedule;
    if (order.length === 0) return;
    const dropped = new Set(unused.map(String));
    const trials = order.flatMap((arms, block) => arms.map((arm, place) => ({ x: block + 1, y: place + 1, arm, used: !dropped.has(`${block},${place}`), colour: colour(arm) })));
    const places = Math.max(...order.map((arms) => arms.length));
    // A plain run has one column per trial; the width of a column is limited.
    const width = Math.min(box.clientWidth, 62 + order.length * 46);
    plot(box, {
      label: "Order of trials: one column per block, arms by color and letter",
      width, height: places * 24, margin: { left: 50 },
      x: { ...counted([0.5, order.length + 0.5], "block"), least: 5 },
      y: { domain: [places + 0.5, 0.5], grid: [], ticks: Array.from({ length: places }, (_, i) => i + 1), text: String },
      marks: ({ x, y }) => trials.map((t) => {
        const wide = x(2) - x(1);
        const inset = wide > 8 ? 0.08 * wide : 0.5;
        return [
          rect(x(t.x - 0.5) + inset, x(t.x + 0.5) - inset, y(t.y) - 9.5, y(t.y) + 9.5, { rx: 2, fill: t.used ? t.colour : "transparent", stroke: t.colour, "stroke-width": wide > 8 ? 1.5 : 0 }),
          ...(wide >= 14 ? [text(x(t.x), y(t.y), "middle", letter(t.arm), { class: t.used ? "key-used" : "key-unused" })] : []),
        ];
      }),
      points: trials, tell: (t) => [data.arms[t.arm], `block ${t.x}, trial ${t.y}${t.used ? "" : ": not used"}`],
    });
  }

  const charts = { latency, heat, blocks, series, schedule, ...operationCharts(data), ...globalThis.waterfallChart?.(data), ...machineCharts(data, strips) };
  const forest = forestCharts(root, data);
  return function draw() {
    forest();
    for (const [id, chart] of Object.entries(charts)) {
      const box = root.querySelector(`[data-chart="${id}"]`);
      if (box) chart(box);
    }
  };
}
