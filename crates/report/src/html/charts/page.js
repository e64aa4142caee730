// Draws the charts of each report when it is unfolded, and again when its width changes.
(function () {
  // A page has only the functions that its charts need.
  const reports = [...document.querySelectorAll("script.charts")].map((script) => {
    const root = script.closest("article");
    return { root, width: 0, draw: globalThis[`${script.dataset.kind}Charts`](root, JSON.parse(script.textContent)) };
  });

  function draw() {
    for (const report of reports) {
      const width = report.root.closest("details:not([open])") ? 0 : report.root.clientWidth;
      if (width === 0 || width === report.width) continue;
      report.width = width;
      report.draw();
      report.root.querySelectorAll("figure").forEach((figure) => {
        figure.hidden = figure.querySelector(".chart svg") === null;
      });
    }
    document.documentElement.dataset.charts = document.querySelectorAll("main svg").length;
  }

  // Unfolds the target of a link.
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    draw();
    if (target) target.scrollIntoView();
  }

  const contents = document.querySelector("nav details");
  if (contents && matchMedia("(min-width: 82rem)").matches) contents.open = true;
  draw();
  if (location.hash) unfold();
  let pending = 0;
  addEventListener("resize", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(draw); });
  addEventListener("toggle", draw, true);
  addEventListener("hashchange", unfold);
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details.chapter").forEach((chapter) => { chapter.open = true; });
    draw();
  });
})();
