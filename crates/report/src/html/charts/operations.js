// Charts of operation times: the share of operations that completed within a time.
function operationCharts(data) {
  function draw(box, chart) {
    const curves = chart.curves.filter(({ arm }) => data.shown.includes(arm))
      .map(({ arm, points }) => ({ arm, points: points.map(([q, ns]) => ({ arm, x: ns, y: 100 * q, colour: colour(arm) })) }));
    const points = curves.flatMap((one) => one.points);
    if (points.length === 0) return;
    const limit = chart.slow_ns ? [chart.slow_ns] : [];
    plot(box, {
      label: `${chart.title}: share completed within each time, one line per arm`,
      height: 214, margin: { left: 46, right: 16 },
      x: {
        type: "log", domain: extent([...points.map((p) => p.x), ...limit]), text: time,
        ticks: ([low, high], pixels) => {
          const round = decades(low, high, pixels / 80);
          return round.length > 1 ? round : ticks(low, high, pixels / 90);
        },
      },
      y: { domain: [0, 100], grid: [0, 25, 50, 75, 100], ticks: [0, 50, 100], text: (share) => `${share} %` },
      marks: ({ x, y, top, bottom }) => [
        ...limit.map((ns) => line(x(ns), top, x(ns), bottom, { class: "limit" })),
        ...curves.map((one) => curve(one.points.map((p) => [x(p.x), y(p.y)]), { class: "curve", stroke: colour(one.arm), "stroke-dasharray": dashes(one.arm) })),
      ],
      names: ({ x, top, left, right }) => limit.filter((ns) => x(ns) >= left && x(ns) <= right)
        .map((ns) => text(x(ns), top - 12, x(ns) > right - 30 ? "end" : "middle", time(ns), { class: "alarm" })),
      points, tell: (p) => [data.arms[p.arm], `${Number(p.y.toFixed(3))} % within ${time(p.x)}`],
    });
  }

  return Object.fromEntries(data.operations.map((chart) => [chart.id, (box) => draw(box, chart)]));
}
