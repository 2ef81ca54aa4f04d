"use strict";

// Theme: that of the system, until the reader chooses.
const root = document.documentElement;
const themeButton = document.getElementById("theme");
const isDark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const nameTheme = () => {
  themeButton.textContent = isDark() ? "Light theme" : "Dark theme";
};
themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
nameTheme();
themeButton.hidden = false;

// Download: the summary as a JSON file.
const downloadButton = document.getElementById("download");
downloadButton.addEventListener("click", () => {
  const text = document.getElementById("summary-json").textContent;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "report.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
downloadButton.hidden = false;

// Sorting: a button in each heading; empty cells stay at the end.
const byText = new Intl.Collator(undefined, { numeric: true });
const valueOf = (cell) => {
  if (cell.dataset.value === undefined) return cell.textContent.trim();
  return cell.dataset.value === "" ? null : Number(cell.dataset.value);
};
const compare = (a, b) => (typeof a === "number" ? a - b : byText.compare(a, b));

function sortBy(table, heading) {
  const column = heading.cellIndex;
  const direction = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  const sign = direction === "ascending" ? 1 : -1;
  const rows = Array.from(table.tBodies[0].rows, (row) => ({ row, value: valueOf(row.cells[column]) }));
  const isEmpty = (value) => value === null || value === "";
  rows.sort((a, b) =>
    isEmpty(a.value) || isEmpty(b.value)
      ? isEmpty(a.value) - isEmpty(b.value)
      : sign * compare(a.value, b.value)
  );
  table.tBodies[0].append(...rows.map((item) => item.row));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", direction);
}

for (const table of document.querySelectorAll("table[data-sortable]")) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.addEventListener("click", () => sortBy(table, heading));
    heading.replaceChildren(button);
  }
}

// Search: show the rows that contain all words.
for (const tools of document.querySelectorAll("[data-tools]")) {
  const key = tools.dataset.tools;
  const rows = Array.from(document.getElementById(`${key}-table`).tBodies[0].rows);
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const search = document.getElementById(`${key}-search`);
  const status = document.getElementById(`${key}-status`);
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      shown += !row.hidden;
    });
    status.textContent = `${shown} of ${rows.length} shown`;
  };
  search.addEventListener("input", filter);
  filter();
  tools.hidden = false;
}
