// Charts of what the machine did: one strip per arm, one line per device, mode or operation.
function machineCharts(data, name) {
  const machine = data.machine;
  // Not the arms' order: a line's colour says which device or mode it is, its strip which arm.
  const ink = (line) => colour(line * 3);
  const dash = (name) => ["none", "6 3", "2 3"][Math.floor(name / 8) % 3];

  function legend(chart) {
    const list = document.createElement("ul");
    list.className = "legend";
    chart.names.forEach((name, i) => {
      const item = document.createElement("li");
      const key = document.createElement("span");
      key.className = "swatch";
      key.style.setProperty("--c", ink(i));
      item.append(key, ` ${name}`);
      list.append(item);
    });
    return list;
  }

  function draw(box, chart) {
    const end = Math.max(0, ...machine.edges.map((edges) => edges.at(-1)));
    const [unit, scale] = clock(end);
    const { domains, grid, axis } = overTime(box, [unit, scale], end);
    const points = chart.lines.filter((line) => data.shown.includes(line.arm)).flatMap((line, z) => {
      const edges = machine.edges[line.edges];
      return edges.map((edge, i) => {
        // A line ends where its last interval does.
        const y = line.values[Math.min(i, line.values.length - 1)];
        return { z, x: edge / scale, y: y === null ? NaN : y, arm: line.arm, name: line.name, used: line.used };
      });
    });
    const arms = data.shown.filter((arm) => chart.lines.some((line) => line.arm === arm));
    const plot = strips(box, arms, name, {
      plot: { ariaLabel: `${chart.label} of every trial over time, one strip per arm`, ...domains },
      marks: [
        grid, axis,
        Plot.axisY({ ...axisText, ticks: 2, tickFormat: (v) => (v < 1 ? String(v) : d3.format("~s")(v)), label: null, tickSize: 0 }),
        Plot.line(points, { x: "x", y: "y", z: "z", fy: "arm", curve: "step-after", stroke: (p) => (p.used ? ink(p.name) : "var(--zero)"), strokeWidth: 1.5 }),
        Plot.tip(points.filter((p) => !Number.isNaN(p.y)), Plot.pointer({ x: "x", y: "y", fy: "arm", title: (p) => `${chart.names[p.name]}\n${Number(p.y.toPrecision(3))}` })),
      ],
    });
    // In the order of facets.
    const drawn = arms.flatMap((arm) => chart.lines.filter((line) => line.arm === arm));
    dashLines(plot, '[aria-label="line"] path', drawn.map((line) => dash(line.name)));
    box.replaceChildren(...(chart.names.length > 1 ? [legend(chart)] : []), plot);
  }

  return Object.fromEntries(machine.charts.map((chart) => [chart.id, (box) => draw(box, chart)]));
}
