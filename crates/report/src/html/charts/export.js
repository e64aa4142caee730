// Copies commands, and downloads the data of the page: its tables as CSV, tables and chart data as JSON.

// All tables: `title`, `heads`, and `rows` of texts.
function pageTables() {
  const own = (node) => [...(node?.childNodes ?? [])].find((child) => child.nodeType === Node.TEXT_NODE)?.textContent.trim();
  const cells = (row) => [...row.cells].filter((cell) => !cell.classList.contains("drawing")).map((cell) => cell.textContent.trim());
  return [...document.querySelectorAll("main table")].map((table) => {
    const places = [own(table.closest(".chapter")?.querySelector(".name")), own(table.closest("section").querySelector("h3")), own(table.caption)];
    return { title: places.filter(Boolean).join(": "), heads: cells(table.tHead.rows[0]), rows: [...table.tBodies[0].rows].map(cells) };
  });
}

// Spreadsheets execute text that looks like a formula; an apostrophe prevents this.
function csvCell(content) {
  const isFormula = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]./.test(content) && !Number.isFinite(Number(content));
  const safe = isFormula ? `'${content}` : content;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function pageCsv() {
  const row = (cells) => `${cells.map(csvCell).join(",")}\n`;
  return pageTables().map(({ title, heads, rows }) => [...(title ? [[title]] : []), heads, ...rows].map(row).join("")).join("\n");
}

function pageJson() {
  const texts = (selector) => [...document.querySelectorAll(selector)].map((node) => {
    const bare = node.cloneNode(true);
    bare.querySelectorAll("button").forEach((button) => button.remove());
    return bare.textContent.trim();
  });
  const charts = [...document.querySelectorAll("script.charts")].map((script) => ({ kind: script.dataset.kind, ...JSON.parse(script.textContent) }));
  return JSON.stringify({ title: document.title, sentences: texts("header h1, header .lead p"), tables: pageTables(), charts }, null, 1);
}

(function () {
  const button = (label, act) => {
    const node = Object.assign(document.createElement("button"), { type: "button", textContent: label });
    node.addEventListener("click", () => act(node));
    return node;
  };

  async function copy(content) {
    try {
      await navigator.clipboard.writeText(content);
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: content });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  // Commands in sentences are between backquotes.
  document.querySelectorAll("main :is(p, li, dd, strong)").forEach((place) => {
    [...place.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.textContent.includes("`iotax ")).forEach((node) => {
      node.replaceWith(...node.textContent.split(/`(iotax [^`]+)`/).map((part, i) => (
        i % 2 ? Object.assign(document.createElement("code"), { className: "command", textContent: part }) : part)));
    });
  });

  document.querySelectorAll(".command").forEach((command) => {
    const box = document.createElement(command.tagName === "PRE" ? "div" : "span");
    box.className = "copied";
    command.replaceWith(box);
    box.append(command, button("Copy", async (node) => {
      await copy(command.textContent.trim());
      node.textContent = "Copied";
      setTimeout(() => { node.textContent = "Copy"; }, 1500);
    }));
  });

  function download(type, ending, content) {
    const name = document.querySelector(".kicker")?.textContent ?? "iotax";
    const file = name.split(/[^\w.-]+/).filter(Boolean).join("-").slice(0, 80);
    const url = URL.createObjectURL(new Blob([content], { type }));
    const link = Object.assign(document.createElement("a"), { href: url, download: `${file}.${ending}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  const row = Object.assign(document.createElement("p"), { className: "downloads" });
  // The mark at the start tells spreadsheets that the text is UTF-8.
  row.append(
    "Data:", button("CSV", () => download("text/csv", "csv", `\ufeff${pageCsv()}`)),
    button("JSON", () => download("application/json", "json", pageJson())),
  );
  document.querySelector("nav").prepend(row);
})();
