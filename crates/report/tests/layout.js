// Opens what is folded, and notes what no reader should see: pages wider than the window, labels
// outside of their drawing, labels on labels. Tells the page that shows this one in a frame.
addEventListener("load", () => {
  document.querySelectorAll("details.chapter").forEach((chapter) => { chapter.open = true; });
  const tail = document.body.dataset.tail;
  setTimeout(() => {
    if (tail) document.querySelectorAll(".chart button").forEach((button) => button.click());
    const labels = document.querySelectorAll("main svg text").length;
    parent.postMessage({ troubles: troubles(), labels, width: innerWidth }, "*");
  }, 200);

  function troubles() {
    const found = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) found.push(`page is ${root.scrollWidth} px wide`);
    for (const svg of document.querySelectorAll("main svg")) {
      const frame = svg.getBoundingClientRect();
      const labels = [...svg.querySelectorAll("text")].flatMap((text) => {
        const box = text.getBoundingClientRect();
        const said = text.textContent.trim();
        return said && box.width ? [{ said, box }] : [];
      });
      const name = svg.closest("[data-chart]")?.dataset.chart ?? "forest";
      labels.forEach(({ said, box }, i) => {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) found.push(`${name}: "${said}" is cut`);
        for (const other of labels.slice(i + 1)) {
          const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
          const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
          if (across > 1 && down > 3) found.push(`${name}: "${said}" on "${other.said}"`);
        }
      });
    }
    for (const tile of document.querySelectorAll(".nodes li")) {
      if (tile.scrollWidth > tile.clientWidth || tile.scrollHeight > tile.clientHeight) found.push(`map: "${tile.textContent}" is cut`);
    }
    return found.slice(0, 20);
  }
});
