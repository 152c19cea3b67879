"use strict";
(() => {
  const table = document.getElementById("all-columns");
  const search = document.getElementById("column-search");
  const count = document.getElementById("column-count");
  const held = document.getElementById("more-columns");
  const body = table.tBodies[0];
  const rows = [...body.rows, ...(held ? held.content.querySelectorAll("tr") : [])];
  const most = Number(table.dataset.most);
  const headings = [...table.tHead.rows[0].cells];
  const text = (row, place) => row.cells[place].textContent.trim();
  const number = (row, place) => parseFloat(text(row, place).replace("−", "-").replace(/[≤,]/g, ""));
  let sorted = null;

  const key = (row) => {
    if (sorted.dataset.sort === "text") return text(row, sorted.cellIndex).toLowerCase();
    const value = number(row, sorted.cellIndex);
    return sorted.dataset.sort === "size" ? Math.abs(value) : value;
  };
  const inOrder = (some) => {
    const sign = sorted.getAttribute("aria-sort") === "ascending" ? 1 : -1;
    const keyed = some.map((row) => [key(row), row]);
    const unknown = (value) => value === "" || Number.isNaN(value);
    keyed.sort(([a], [b]) => {
      if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
      const order = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
      return sign * order;
    });
    return keyed.map(([, row]) => row);
  };
  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    const last = headings.length - 1;
    let shown = rows.filter((row) => `${text(row, 0)} ${text(row, last)}`.toLowerCase().includes(wanted));
    if (sorted) shown = inOrder(shown);
    body.replaceChildren(...shown.slice(0, most));
    const listed = Math.min(shown.length, most).toLocaleString("en");
    count.textContent = `${listed} of ${rows.length.toLocaleString("en")} columns shown`;
  };
  const sortBy = (heading) => {
    const first = heading.dataset.sort === "size" ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const next = heading === sorted && heading.getAttribute("aria-sort") === first ? other : first;
    for (const one of headings) one.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", next);
    sorted = heading;
    show();
  };

  for (const heading of headings) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(heading));
    heading.append(button);
  }
  search.addEventListener("input", show);
  document.getElementById("column-tools").hidden = false;
  show();
})();
