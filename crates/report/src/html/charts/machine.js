// Charts of system metrics: one strip per arm, one line per device, mode or operation.
function machineCharts(data, strips) {
  const { spans, charts } = data.machine;
  // Colours identify devices or modes, not arms; the strip identifies the arm.
  const ink = (line) => colour(line * 3);

  function draw(box, chart) {
    const last = spans.reduce((most, span) => Math.max(most, span.runs.at(-1)[1]), 0);
    const [unit, seconds] = clock(last);
    const lines = chart.lines.map(({ span, name, ...figures }) => ({
      arm: spans[span].arm, steps: steps(spans[span], figures, seconds), told: chart.names[name],
      colour: spans[span].used ? ink(name) : "var(--zero)", dash: dashes(name),
    }));
    overTime(box, {
      label: `${chart.label} of each trial over time, one strip per arm`,
      strips: strips((arm) => lines.some((line) => line.arm === arm)),
      lines, unit, end: last / seconds, amount: short,
      tickText: (value) => (value < 1 ? String(value) : si(value)),
      before: chart.names.length > 1 ? [swatches(chart.names.map((name, i) => [name, ink(i)]))] : [],
    });
  }

  return Object.fromEntries(charts.map((chart) => [chart.id, (box) => draw(box, chart)]));
}
