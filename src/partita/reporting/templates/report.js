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

// Downloads: the summary as JSON, every table as CSV.
const summary = JSON.parse(document.getElementById("summary-json").textContent);
function download(text, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const downloadButton = document.getElementById("download");
downloadButton.addEventListener("click", () => {
  download(document.getElementById("summary-json").textContent, "application/json", "report.json");
});
downloadButton.hidden = false;

const quoted = (value) => {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
function rowsOf(key) {
  // the table shows the samples with the lowest margin; the file has all samples if there are not too many
  const columns = key === "samples" ? summary.assignments : null;
  if (!columns) {
    const table = summary[key];
    const names = Object.keys(table.columns);
    return [names, ...table.rows.map((row) => names.map((name) => row[name]))];
  }
  const names = Object.keys(columns);
  return [names, ...columns[names[0]].map((_, i) => names.map((name) => columns[name][i]))];
}
for (const button of document.querySelectorAll("[data-csv]")) {
  const key = button.dataset.csv;
  button.addEventListener("click", () => {
    const lines = rowsOf(key).map((row) => row.map(quoted).join(","));
    download(lines.join("\r\n") + "\r\n", "text/csv", `${key}.csv`);
  });
  button.hidden = false;
}

// Hint: where a table is wider than the page.
const scrolls = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    target.parentElement.querySelector(".hint").hidden = target.scrollWidth <= target.clientWidth + 1;
  }
});
for (const scroll of document.querySelectorAll(".scroll")) scrolls.observe(scroll);

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
  tools.hidden = false;
  const key = tools.dataset.tools;
  const search = document.getElementById(`${key}-search`);
  const rows = Array.from(document.getElementById(`${key}-table`).tBodies[0].rows);
  const texts = rows.map((row) => row.textContent.toLowerCase());
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
}
