// Shows the figures of the node under the pointer or with the focus. Tab leads to one node of a map,
// arrow keys to the others.
(function () {
  document.querySelectorAll(".map").forEach((map) => {
    const tiles = [...map.querySelectorAll(".nodes li")];
    const told = map.querySelector(".told");
    const tell = (event) => {
      const tile = event.target.closest(".nodes li");
      if (tile) told.textContent = tile.querySelector(".unseen").textContent;
    };
    const below = (tile, way) => {
      const [x, y] = [tile.offsetLeft, tile.offsetTop];
      const at = tiles.indexOf(tile);
      const rows = way > 0 ? tiles.slice(at) : tiles.slice(0, at).reverse();
      return rows.find((other) => (other.offsetTop - y) * way > 0 && Math.abs(other.offsetLeft - x) < tile.offsetWidth / 2);
    };
    told.hidden = false;
    tiles.forEach((tile, i) => { tile.tabIndex = i === 0 ? 0 : -1; });
    map.addEventListener("pointerover", tell);
    map.addEventListener("focusin", (event) => {
      if (!event.target.closest(".nodes li")) return;
      tiles.forEach((tile) => { tile.tabIndex = tile === event.target ? 0 : -1; });
      tell(event);
    });
    map.addEventListener("keydown", (event) => {
      const at = tiles.indexOf(event.target);
      if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
      const next = {
        ArrowLeft: () => tiles[at - 1], ArrowRight: () => tiles[at + 1],
        ArrowUp: () => below(event.target, -1), ArrowDown: () => below(event.target, 1),
        Home: () => tiles[0], End: () => tiles[tiles.length - 1],
      }[event.key];
      if (!next) return;
      event.preventDefault();
      next()?.focus();
    });
  });
})();
