// Charts of a recording: returns what draws them in `root`.
function recordingCharts(root, data) {
  const ink = (number) => (number === null ? "var(--line)" : colour(number));
  const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1);

  function size(bytes) {
    const power = Math.max(0, Math.min(4, Math.floor(Math.log2(bytes || 1) / 10)));
    return `${Number((bytes / 1024 ** power).toPrecision(3))} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
  }

  // Above one strip there is no room for the keys of its lines, so they are above all strips.
  function keys() {
    const shared = data.strips.filter((strip) => strip.lines.length > 1).flatMap((strip) => strip.lines);
    const used = data.kinds.filter(([, number]) => shared.some((one) => one.colour === number));
    return used.length ? [swatches(used.map(([name, number]) => [name, ink(number)]))] : [];
  }

  function axisOf({ is_time: isTime, lines }) {
    const values = lines.flatMap((one) => one.values).filter((value) => value !== null);
    if (!isTime) {
      const top = roundUp(Math.max(...values) || 1);
      return { domain: [0, top], ticks: ticks(0, top, 2), text: (value) => (value < 1 ? String(value) : si(value)) };
    }
    const [low, high] = extent(values);
    const domain = [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.001))];
    return { type: "log", domain, ticks: decades(...domain, 0).filter((_, i, all) => all.length < 4 || i % 2 === 0), text: time };
  }

  // Strips over the same time, each with its own axis.
  function overAll(box) {
    const [unit, seconds] = clock(data.length_s);
    const lines = data.strips.flatMap((strip, key) => strip.lines.map((one) => (
      { key, isTime: strip.is_time, name: one.name, colour: ink(one.colour), steps: steps(data, one, seconds) })));
    const at = (x) => Number(x.toPrecision(4));
    plot(box, {
      label: data.strips.map((strip) => strip.name).join("; "), height: 54, before: keys(),
      strips: data.strips.map((strip, key) => ({
        key, name: strip.name, colour: strip.lines.length > 1 ? "var(--zero)" : ink(strip.lines[0].colour), axis: axisOf(strip),
      })),
      x: {
        domain: [0, data.length_s / seconds], title: unit, text: (tick) => grouped(Number(tick.toPrecision(9))),
        ticks: ([from, to], pixels) => ticks(from, to, Math.max(2, pixels / 90)),
      },
      y: {},
      marks: (panel) => lines.filter((one) => one.key === panel.key).map((one) => stepLine(one.steps, panel, one.colour)),
      points: lines.flatMap((one) => one.steps.map((step) => ({ ...step, key: one.key, colour: one.colour, name: one.name, isTime: one.isTime }))),
      tell: ({ name, isTime, y, x1, x2 }) => [capital(name), `${isTime ? time(y) : short(y)} at ${at(x1)} to ${at(x2)} ${unit}`],
    });
  }

  // Bars over powers of two, one strip per operation.
  function histogram(box, strips, text) {
    const span = ([from]) => [from || 0.5, 2 * from || 1];
    const [low, high] = extent(strips.flatMap((strip) => strip.bars.flatMap(span)));
    const top = strips.map((strip) => Math.min(100, roundUp(Math.max(...strip.bars.map(([, share]) => share)))));
    const powers = (from, to, most) => {
      const [first, last] = [Math.ceil(Math.log2(from) - 1e-9), Math.floor(Math.log2(to) + 1e-9)];
      const every = [1, 2, 3, 5, 10].find((step) => (last - first) / step <= most) ?? 10;
      return Array.from({ length: last - first + 1 }, (_, i) => first + i).filter((power) => power % every === 0).map((power) => 2 ** power);
    };
    plot(box, {
      label: strips.map((strip) => strip.name).join("; "), height: 44, margin: { left: 46 },
      strips: strips.map((strip, key) => ({
        key, name: strip.name, colour: ink(strip.colour),
        axis: { domain: [0, top[key]], ticks: [0, top[key]], text: (share) => `${Number(share.toPrecision(3))} %` },
      })),
      x: {
        type: "log", domain: [low, high], text,
        ticks: ([from, to], pixels) => (text === time ? decades(from, to, pixels / 70) : powers(from, to, pixels / 70)),
      },
      y: {},
      marks: ({ key, x, y, bottom }) => strips[key].bars.map((bar) => {
        const [from, to] = span(bar);
        return rect(x(from) + 0.5, x(to) - 0.5, Math.min(y(bar[1]), bottom - 1.5), bottom, { fill: ink(strips[key].colour) });
      }),
      points: strips.flatMap((strip, key) => strip.bars.map((bar) => {
        const [x1, x2] = span(bar);
        return { key, x: Math.sqrt(x1 * x2), x1, x2, y: bar[1], y1: 0, y2: top[key], colour: ink(strip.colour), name: strip.name };
      })),
      tell: (point) => [point.name, `${short(point.y)} % between ${text(point.x1)} and ${text(point.x2)}`],
    });
  }

  // Rows whose parts add up to 100 %.
  function shares(box, { parts, rows }) {
    const bars = rows.flatMap(([name, values], i) => {
      let end = 0;
      return values.map((value, part) => {
        const x1 = end;
        end += value;
        return { name, part, value, at: i + 1, x1, x2: end };
      }).filter((bar) => bar.value > 0);
    });
    const used = parts.filter((_, part) => bars.some((bar) => bar.part === part));
    const left = Math.min(0.4 * box.clientWidth, 7 * Math.max(...rows.map(([name]) => name.length)) + 14);
    plot(box, {
      label: rows.map(([name]) => name).join("; "), height: 26 * rows.length, margin: { left, top: 4, right: 22 },
      before: [swatches(used.map(([name, number]) => [name, ink(number)]))],
      x: { domain: [0, 100], text: (share) => `${share} %`, ticks: ([from, to], pixels) => ticks(from, to, Math.min(5, pixels / 60)) },
      y: { domain: [rows.length + 0.5, 0.5], grid: [], ticks: rows.map((_, i) => i + 1), text: (at) => rows[at - 1][0] },
      marks: ({ x, y }) => bars.map((bar) => rect(x(bar.x1), x(Math.min(100, bar.x2)), y(bar.at) - 8, y(bar.at) + 8, { fill: ink(parts[bar.part][1]) })),
      points: bars.map((bar) => ({ ...bar, x: (bar.x1 + bar.x2) / 2, y: bar.at, y1: bar.at - 0.5, y2: bar.at + 0.5, colour: ink(parts[bar.part][1]) })),
      tell: (bar) => [bar.name, `${parts[bar.part][0]}: ${short(bar.value)} %`],
    });
  }

  // Bands from the threads that wait to those that they wait for; their height is the time.
  function waits(box, { heads, pairs }) {
    const [width, top, gap, bar] = [Math.min(box.clientWidth, 760), 26, 10, 10];
    const room = Math.min(150, width / 3);
    const side = (of) => {
      const sums = new Map();
      pairs.forEach((pair) => sums.set(pair[of], (sums.get(pair[of]) ?? 0) + pair.share));
      return [...sums].sort((a, b) => b[1] - a[1]);
    };
    const all = pairs.reduce((sum, pair) => sum + pair.share, 0);
    const sides = [side("waits"), side("waits_for")];
    const scale = Math.max(160, 26 * Math.max(...sides.map((one) => one.length))) / all;
    const place = (one) => {
      let end = top;
      return new Map(one.map(([name, sum], i) => {
        const high = Math.max(sum * scale, 14);
        const node = { name, i, sum, y: end, high, used: 0 };
        end += high + gap;
        return [name, node];
      }));
    };
    const [from, to] = sides.map(place);
    const height = Math.max(...[from, to].map((one) => Math.max(...[...one.values()].map((node) => node.y + node.high)))) + 4;
    const [x1, x2] = [room + bar, width - room - bar];
    const svg = drawing(width, height, pairs.map((pair) => `${pair.waits}, ${pair.waits_for}: ${pair.told}`).join("; "));
    svg.append(text(room, 10, "end", heads[0]), text(width - room, 10, "start", heads[1]));
    // The order in which bands leave one side is that of their places on the other.
    const ordered = [...pairs].sort((a, b) => from.get(a.waits).y - from.get(b.waits).y || to.get(a.waits_for).y - to.get(b.waits_for).y);
    for (const pair of ordered) {
      const [start, end] = [from.get(pair.waits), to.get(pair.waits_for)];
      const ends = [start, end].map((node) => {
        const high = (pair.share / node.sum) * node.high;
        const y = node.y + node.used;
        node.used += high;
        return [y, y + high];
      });
      const [[a, b], [c, d]] = ends;
      const middle = (x1 + x2) / 2;
      const path = `M${x1},${a}C${middle},${a} ${middle},${c} ${x2},${c}V${d}C${middle},${d} ${middle},${b} ${x1},${b}Z`;
      svg.append(element("path", { d: path, fill: colour(end.i), class: "flow" }, element("title", {}, `${pair.waits}, ${pair.waits_for}: ${pair.told}`)));
    }
    const share = (node) => `${short(node.sum)} %`;
    from.forEach((node) => svg.append(
      rect(x1 - bar, x1, node.y, node.y + node.high, { fill: "var(--zero)" }), text(room - 6, node.y + node.high / 2, "end", node.name, { class: "name" })));
    to.forEach((node) => svg.append(
      rect(x2, x2 + bar, node.y, node.y + node.high, { fill: colour(node.i) }), text(width - room + 6, node.y + node.high / 2, "start", `${node.name}: ${share(node)}`, { class: "name" })));
    box.replaceChildren(svg);
  }

  const charts = {
    "over-time": [data.strips.length, overAll],
    latency: [data.latency.length, (box) => histogram(box, data.latency, time)],
    sizes: [data.sizes.length, (box) => histogram(box, data.sizes, size)],
    order: [data.order.rows.length, (box) => shares(box, data.order)],
    depth: [data.depth.rows.length, (box) => shares(box, data.depth)],
    threads: [data.threads.rows.length, (box) => shares(box, data.threads)],
    waits: [data.waits, (box) => waits(box, data.waits)],
  };
  return function draw() {
    for (const [id, [has, chart]] of Object.entries(charts)) {
      const box = root.querySelector(`[data-chart="${id}"]`);
      if (box && has) chart(box);
    }
  };
}
