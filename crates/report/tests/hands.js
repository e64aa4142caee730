// Hands on a page: points at charts, drags, presses keys, and notes what is seen then. Places are
// shares of a chart's width and height. What they do stands in place of ACT.
{
  const notes = [];
  const chart = (id) => document.querySelector(`[data-chart="${id}"] svg`);
  const event = (type, svg, x, y) => {
    const box = svg.getBoundingClientRect();
    const place = { clientX: box.left + x * box.width, clientY: box.top + y * box.height };
    svg.dispatchEvent(new PointerEvent(type, { ...place, bubbles: true, pointerType: "mouse" }));
  };
  const point = (svg, x) => event("pointermove", svg, x, 0.5);
  const press = (svg, x) => event("pointerdown", svg, x, 0.5);
  const drag = (svg, from, to) => {
    press(svg, from);
    point(svg, (from + to) / 2);
    point(svg, to);
    event("pointerup", svg, to, 0.5);
  };
  const key = (svg, name) => {
    svg.focus();
    svg.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  };
  const tip = (svg) => {
    const shown = svg.parentElement.querySelector(".tip");
    return shown.hidden ? "nothing" : [...shown.children].map((line) => line.textContent).join("|");
  };
  const reset = (svg) => svg.parentElement.querySelector(".reset");
  // The labels of its x axis, and whether it is zoomed.
  const axis = (svg) => {
    const ticks = [...[...svg.querySelectorAll(".axis")].at(-1).querySelectorAll("text")].map((text) => text.textContent);
    return `${ticks.join(" ")}${reset(svg).hidden ? "" : ", zoomed"}`;
  };
  ACT
  const list = document.createElement("p");
  list.id = "notes";
  list.textContent = notes.join(";");
  document.body.append(list);
}
