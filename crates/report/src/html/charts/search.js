// Charts of a search for caps: returns what draws them in `root`.
function searchCharts(root, data) {
  const short = (value) => Number(value.toPrecision(3)).toLocaleString("en");

  function draw(box, label, marks, x, y) {
    box.replaceChildren(Plot.plot({
      width: box.clientWidth, height: 300, marginLeft: 64, marginBottom: 44, marginTop: 16, marginRight: 16,
      style, ariaLabel: label, x, y, marks,
    }));
  }

  // Quantity over what grows: I/Os in flight, flows. Throughput of flows differs little, and begins at 0;
  // of depth it spans decades.
  function growth(id, quantity, { over, isLinear }) {
    const box = root.querySelector(`[data-chart="${id}"]`);
    const points = data.ladder.filter((point) => point.quantity === quantity && point.value > 0);
    if (!box || !points.length) return;
    const caps = data.caps.filter((cap) => cap.quantity === quantity);
    const values = points.map((point) => point.value);
    const most = Math.max(...values, ...(isLinear ? caps.map((cap) => cap.value) : []));
    const [low, high] = isLinear ? [0, 1.08 * most] : [Math.min(...values) / 1.25, 1.25 * most];
    const depths = [...new Set(points.map((point) => point.depth))].sort((a, b) => a - b);
    const round = isLinear ? [] : decades(low, high, 7);
    const ticks = round.length > 1 ? round : d3.ticks(low, high, 4);
    draw(box, `${quantity} over ${over}`, [
      Plot.gridY(ticks, { stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.ruleY(caps, { y: "value", stroke: (cap) => colour(cap.target), strokeDasharray: "4 4" }),
      Plot.line(points, { x: "depth", y: "value", z: "target", stroke: (point) => colour(point.target), strokeWidth: 2 }),
      Plot.dot(points, { x: "depth", y: "value", fill: (point) => colour(point.target), r: 4 }),
      // `text`, since of a logarithmic axis Plot writes only the ticks that d3 would have chosen.
      Plot.axisX(depths, { ...axisText, text: (depth) => String(depth), label: over, labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
      Plot.axisY(ticks, { ...axisText, text: short, label: null }),
      Plot.tip(points, Plot.pointer({ x: "depth", y: "value", title: (point) => `${data.names[point.target]}\n${over} ${point.depth}: ${short(point.value)}` })),
    ], { type: "log" }, { type: isLinear ? "linear" : "log", domain: [low, high] });
  }

  function series(id, quantity) {
    const box = root.querySelector(`[data-chart="${id}"]`);
    const measured = data.series.filter((point) => point.quantity === quantity);
    // A value is that of the second that ends there; so the first begins at none.
    const points = [...d3.group(measured, (point) => point.target).values()]
      .flatMap((ofOne) => [{ ...ofOne[0], second: 0 }, ...ofOne]);
    if (!box || !points.length) return;
    const caps = data.caps.filter((cap) => cap.quantity === quantity);
    draw(box, `${quantity} over time`, [
      Plot.gridY({ ticks: 4, stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.ruleY(caps, { y: "value", stroke: (cap) => colour(cap.target), strokeDasharray: "4 4" }),
      Plot.line(points, { x: "second", y: "value", z: "target", curve: "step-before", stroke: (point) => colour(point.target), strokeWidth: 1.75 }),
      Plot.axisX({ ...axisText, ticks: Math.min(8, Math.max(...points.map((point) => point.second))), tickFormat: "d", label: "seconds", labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
      Plot.axisY({ ...axisText, ticks: 4, tickFormat: short, label: null }),
      Plot.tip(points, Plot.pointer({ x: "second", y: "value", title: (point) => `${data.names[point.target]}\n${short(point.value)} at ${point.second} s` })),
    ], {}, { domain: [0, 1.08 * Math.max(...points.map((point) => point.value), ...caps.map((cap) => cap.value))] });
  }

  return function draw() {
    for (const [id, quantity] of [["ladder-iops", "IOPS"], ["ladder-latency", "mean latency, ms"]]) {
      growth(id, quantity, { over: "queue depth", isLinear: false });
    }
    for (const [id, quantity] of [
      ["flows-to", "Mbit/s to the peer"], ["flows-from", "Mbit/s from the peer"],
      ["packets-to", "packets/s to the peer"], ["requests", "packets/s both ways"],
    ]) growth(id, quantity, { over: "flows at once", isLinear: true });
    series("series-iops", "IOPS");
    series("series-bw", data.unit);
    series("series-path", "Mbit/s to the peer");
  };
}
