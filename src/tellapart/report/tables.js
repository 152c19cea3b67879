"use strict";
(() => {
  const sheets = {};
  const collator = new Intl.Collator("en", { numeric: true });
  const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const read = (node) => node.textContent.trim();
  // A cell begins with its key, for screens so narrow that rows become cards.
  const plain = (cell) => read(cell).slice(cell.querySelector(".key")?.textContent.length ?? 0).trim();
  const namesOf = (row) => [...row.cells[0].querySelectorAll("bdi")].map(read);
  const counted = (count) => count.toLocaleString("en");

  // "1,234", "−0.5", "≤ 0.001" and "2.5 × 10⁻⁷" as numbers; NaN where there is none.
  const number = (text) => {
    const plain = text.replace(/[−⁻]/g, "-").replace(/[≤,\s]/g, "").replace(/^(-?)∞/, "$1Infinity");
    const digits = plain.replace(/[⁰¹²³⁴-⁹]/g, (digit) => raised.indexOf(digit));
    return parseFloat(digits.replace("×10", "e"));
  };
  const make = (tag, kind, ...content) => {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    node.append(...content);
    return node;
  };
  const makeButton = (content, press) => {
    const button = make("button", "", ...content);
    button.type = "button";
    button.addEventListener("click", press);
    return button;
  };

  // What the page has on one or several columns, gathered when a row is unfolded.
  const figuresOf = (name) =>
    [...document.querySelectorAll("figure")]
      .filter((figure) => figure.querySelector("figcaption bdi") && read(figure.querySelector("figcaption bdi")) === name)
      .map((figure) => {
        const drawn = figure.querySelector("svg");
        drawn.id ||= `figure-of-${drawn.getAttribute("aria-labelledby").split("-")[0]}`;
        const copy = drawn.cloneNode(false);
        copy.removeAttribute("id");
        const use = document.createElementNS(drawn.namespaceURI, "use");
        use.setAttribute("href", `#${drawn.id}`);
        copy.append(use);
        return make("figure", "", copy);
      });
  const boxesOf = (row, labels) => {
    const numbers = (row.dataset.quartiles ?? "").split(" ").map(parseFloat);
    const low = Math.min(...numbers);
    const width = Math.max(...numbers) - low;
    if (numbers.length !== 6 || !(width > 0)) return [];
    const place = (value) => `${(100 * (value - low)) / width}%`;
    const boxes = labels.map((label, side) => {
      const [first, middle, third] = numbers.slice(3 * side, 3 * side + 3);
      const bar = make("span", side ? "box of-y" : "box of-x");
      bar.style.left = place(first);
      bar.style.right = `calc(100% - ${place(third)})`;
      const mark = make("span", "median");
      mark.style.left = place(middle);
      return make("div", "boxes", make("bdi", "", label), make("span", "axis", bar, mark));
    });
    const figure = make("figure", "", ...boxes, make("figcaption", "", "Medians and quartiles"));
    figure.setAttribute("aria-hidden", "true"); // the numbers are text already
    return [figure];
  };
  const findingsOf = (name, but) => {
    const others = (sheets.finding?.rows ?? []).filter((row) => row !== but && namesOf(row).includes(name));
    const lines = others.map((row) => {
      const partners = namesOf(row).filter((other) => other !== name);
      const [, kind, change, size, pvalue] = [...row.cells];
      const intervals = [...size.querySelectorAll(".role")].map(read).filter(Boolean).join("; ");
      const together = partners.length ? ` with ${partners.join(", ")}` : "";
      const line = make("li", "", make("strong", "", plain(kind), together), ": ", make("bdi", "", plain(change)));
      line.append(`; ${read(size.querySelector(".number"))}`, intervals && ` (${intervals})`);
      // "q = 0.012" says itself what it is.
      line.append(plain(pvalue).includes("=") ? `; ${plain(pvalue)}` : `; adjusted p ${plain(pvalue)}`);
      return line;
    });
    const title = but ? "Other findings of this column" : "Findings of this column";
    return lines.length ? [make("p", "", title), make("ul", "", ...lines)] : [];
  };
  const describe = (name, but) => {
    const { rows, headings } = sheets.column;
    const row = rows.find((one) => namesOf(one)[0] === name);
    const labels = headings.slice(1, 3).map(read);
    const pictures = figuresOf(name);
    if (row && !pictures.length) pictures.push(...boxesOf(row, labels));
    const text = make("div", "", make("p", "", make("strong", "", make("bdi", "", name))));
    if (row && but) {
      const numbers = headings.slice(1, -1).map((heading, k) => {
        const cell = row.cells[k + 1].cloneNode(true);
        return make("div", "", make("dt", "", read(heading)), make("dd", "", ...cell.childNodes));
      });
      text.append(make("dl", "", ...numbers));
    }
    text.append(...findingsOf(name, but));
    if (!but && text.childNodes.length === 1) text.append(make("p", "", "No findings of this column."));
    return make("div", "of-column", text, ...pictures);
  };

  const start = (table) => {
    const { tools, most, first } = table.dataset;
    const part = (name) => document.getElementById(`${tools}-${name}`);
    const [search, kind, count, held] = ["search", "kind", "count", "held"].map(part);
    const body = table.tBodies[0];
    const rows = [...body.rows, ...(held ? held.content.querySelectorAll("tr") : [])];
    const headings = [...table.tHead.rows[0].cells];
    const order = table.caption.querySelector(".order");
    const usual = order.textContent;
    const texts = new Map();
    const unfolded = new Map();
    const ready = new Set();
    let sorted = null;
    let matching = rows;
    let whole = false;
    sheets[tools] = { rows, headings };

    const key = (row) => {
      const cell = row.cells[sorted.cellIndex];
      const text = cell.dataset.value ?? plain(cell);
      if (sorted.dataset.sort === "text") return text.toLowerCase();
      return sorted.dataset.sort === "size" ? Math.abs(number(text)) : number(text);
    };
    const inOrder = (some) => {
      const sign = sorted.getAttribute("aria-sort") === "ascending" ? 1 : -1;
      const keyed = some.map((row) => [key(row), row]);
      const unknown = (value) => value === "" || Number.isNaN(value);
      keyed.sort(([a], [b]) => {
        if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
        if (typeof a === "string") return sign * collator.compare(a, b);
        return a === b ? 0 : sign * (a - b);
      });
      return keyed.map(([, row]) => row);
    };
    const searched = (row) => {
      if (!texts.has(row)) {
        const cells = [...row.cells].filter((_, k) => headings[k].dataset.sort === "text");
        texts.set(row, cells.map(plain).join(" ").toLowerCase());
      }
      return texts.get(row);
    };
    const matches = () => {
      const words = search.value.toLowerCase().split(/\s+/);
      const ofKind = (row) => !kind?.value || row.dataset.kind === kind.value;
      return rows.filter((row) => ofKind(row) && words.every((word) => searched(row).includes(word)));
    };

    const fold = (row, button) => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", open);
      if (!open) {
        unfolded.get(row).remove();
        unfolded.delete(row);
        return;
      }
      const names = namesOf(row);
      const cell = make("td", "whole", make("div", "inside"));
      cell.colSpan = headings.length;
      const detail = make("tr", "detail", cell);
      detail.setAttribute("role", "row");
      cell.setAttribute("role", "cell");
      const together = names.length > 1 ? figuresOf(names.join(" and ")) : [];
      cell.firstChild.append(...together, ...names.map((name) => describe(name, tools === "finding" && row)));
      unfolded.set(row, detail);
      row.after(detail);
      detail.scrollIntoView({ block: "nearest" });
    };
    const prepare = (row) => {
      if (ready.has(row)) return;
      ready.add(row);
      const head = row.cells[0];
      const button = makeButton(head.childNodes, () => fold(row, button));
      button.className = "unfold";
      button.setAttribute("aria-expanded", "false");
      head.append(button);
    };
    const show = () => {
      const least = whole || !first ? Number(most) : Number(first);
      const listed = matching.slice(0, Number(most));
      listed.forEach(prepare);
      listed.forEach((row, k) => row.classList.toggle("beyond", k >= least));
      const all = listed.flatMap((row) => (unfolded.has(row) ? [row, unfolded.get(row)] : [row]));
      for (const [row, detail] of unfolded) detail.classList.toggle("beyond", row.classList.contains("beyond"));
      body.replaceChildren(...all);
      const by = sorted && `sorted by ${read(sorted)}, ${sorted.getAttribute("aria-sort")}`;
      const shown = `${counted(Math.min(listed.length, least))} of ${counted(rows.length)} ${tools}s shown`;
      // The caption has the order for all to see, and on paper how many of the rows match.
      const match = matching.length < rows.length ? `; ${counted(matching.length)} of ${counted(rows.length)}` : "";
      order.replaceChildren(by ?? usual, ...(match ? [make("span", "on-paper", match)] : []));
      count.replaceChildren(shown, ...(by ? [make("span", "unseen", `, ${by}`)] : []));
      more.hidden = !first || matching.length <= Number(first);
      more.setAttribute("aria-expanded", whole);
      more.textContent = whole ? `Show the first ${first}` : `Show all ${counted(listed.length)}`;
    };
    const renew = () => {
      matching = matches();
      if (sorted) matching = inOrder(matching);
      show();
    };
    const sortBy = (heading) => {
      const usually = heading.dataset.sort === "size" ? "descending" : "ascending";
      const other = usually === "ascending" ? "descending" : "ascending";
      const next = heading === sorted && heading.getAttribute("aria-sort") === usually ? other : usually;
      for (const one of headings) one.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", next);
      sorted = heading;
      renew();
    };

    const more = makeButton([], () => {
      whole = !whole;
      show();
    });
    more.className = "more";
    more.setAttribute("aria-controls", table.id);
    if (first) table.after(more);
    for (const heading of headings) heading.append(makeButton(heading.childNodes, () => sortBy(heading)));
    search.addEventListener("input", renew);
    kind?.addEventListener("change", renew);
    table.classList.add("sortable");
    part("tools").hidden = false;
    renew();
  };

  document.querySelectorAll("table[data-tools]").forEach(start);
})();
