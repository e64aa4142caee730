// Charts of a search for caps: returns what draws them in `root`.
function searchCharts(root, data) {
  const short = (value) => Number(value.toPrecision(3)).toLocaleString("en");

  function draw(box, label, marks, x, y) {
    box.replaceChildren(Plot.plot({
      width: box.clientWidth, height: 300, marginLeft: 64, marginBottom: 44, marginTop: 16, marginRight: 16,
      style, ariaLabel: label, x, y, marks,
    }));
  }

  // `text`, since of a logarithmic axis Plot writes only the ticks that d3 would have chosen.
  function ladder(id, quantity) {
    const box = root.querySelector(`[data-chart="${id}"]`);
    const points = data.ladder.filter((point) => point.quantity === quantity && point.value > 0);
    if (!box || !points.length) return;
    const values = points.map((point) => point.value);
    const [low, high] = [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
    const depths = [...new Set(points.map((point) => point.depth))].sort((a, b) => a - b);
    const caps = data.caps.filter((cap) => cap.quantity === quantity);
    draw(box, `${quantity} over queue depth`, [
      Plot.gridY(decades(low, high, 7), { stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.ruleY(caps, { y: "value", stroke: (cap) => colour(cap.target), strokeDasharray: "4 4" }),
      Plot.line(points, { x: "depth", y: "value", z: "target", stroke: (point) => colour(point.target), strokeWidth: 2 }),
      Plot.dot(points, { x: "depth", y: "value", fill: (point) => colour(point.target), r: 4 }),
      Plot.axisX(depths, { ...axisText, text: (depth) => String(depth), label: "queue depth", labelAnchor: "center", labelOffset: 38, labelArrow: "none" }),
      Plot.axisY(decades(low, high, 7), { ...axisText, text: short, label: null }),
      Plot.tip(points, Plot.pointer({ x: "depth", y: "value", title: (point) => `${data.names[point.target]}\ndepth ${point.depth}: ${short(point.value)}` })),
    ], { type: "log" }, { type: "log", domain: [low, high] });
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
    ladder("ladder-iops", "IOPS");
    ladder("ladder-latency", "mean latency, ms");
    series("series-iops", "IOPS");
    series("series-bw", data.unit);
  };
}
