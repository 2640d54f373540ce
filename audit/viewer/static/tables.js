"use strict";

// Tables of counts: rows of objects, numbers to the right, cells that lead to what they count, headings that sort.
const Tables = (() => {
  const isNumber = (rows, name) => rows.some((row) => typeof row.cells[name] === "number");

  const kindOf = (row) => row.cells.env;
  const isPercent = (name) => /_pct$|^pct$/.test(name);
  // Columns that are read beside each other, and so have equally many decimals.
  const SAME_UNIT = [
    ["r0", "r1", "delta", "kept_return", "best_so_far"], ["mean_return", "best_return", "final_return"], ["worst", "median", "best"],
    ["before", "after", "change"], ["low", "high", "estimate", "detectable"],
  ];
  const PLAIN = new Set(["run", "iteration"]); // numbers that name something

  /** What writes the numbers of a column: p-values and percentages in their own way, others of a task with equally many decimals. */
  function formats(name, rows) {
    if (/^p$|^p_|_p$/.test(name)) return (_row, value) => (typeof value === "number" ? pValue(value) : number(value));
    if (isPercent(name)) return (_row, value) => percent(value);
    if (PLAIN.has(name)) return (_row, value) => String(value ?? "");
    const names = SAME_UNIT.find((each) => each.includes(name)) || [name, `${name}_low`, `${name}_high`];
    const values = rows.flatMap((row) => names.map((each) => [kindOf(row), row.cells[each]]));
    const text = alike(values);
    return (row, value) => text(kindOf(row), value);
  }

  const ROUGH = "~";
  const ROUGH_NOTE = `${ROUGH} marks a rough interval: too few runs to rely on it.`;
  const isRough = (cells, name) => Boolean(cells.rough?.includes(name));

  const asPercent = (_row, end) => percent(end);

  /** The ends of an interval, where there are any, and whether it is rough. */
  function interval(row, name, text) {
    const [low, high] = [row.cells[`${name}_low`], row.cells[`${name}_high`]];
    if (low === null || low === undefined || high === null || high === undefined) return null;
    return h("span.interval", ` [${[low, high].map((end) => text(row, end).trim()).join(", ")}]${isRough(row.cells, name) ? ROUGH : ""}`);
  }

  function cell({ name, share, of }, row, text) {
    const value = row.cells[name];
    const shareText = share ? percent(row.cells[share]) : "";
    const words = shareText ? `${number(value)} (${shareText}${of ? ` of ${number(row.cells[of])}` : ""})` : typeof value === "string" ? Names.value(name, value) : text(row, value);
    const filter = row.links?.[name];
    const address = row.hrefs?.[name] || (filter && Query.revisions(filter));
    const ends = share ? interval(row, share, asPercent) || interval(row, name, asPercent) : interval(row, name, text);
    return [address && words !== "" ? link(words, address) : words, ends];
  }

  /** A table of counts whose rows have `links`: the filter of each cell, from its row's and its column's. */
  function linked(table) {
    const columns = [...Object.keys(table.counts).map((name) => [name, name]), ...Object.entries(table.shares)];
    const rows = table.rows.map(({ cells, filter }) => {
      const counted = columns.filter(([, count]) => cells[count] !== null && cells[count] !== undefined);
      const links = counted.map(([name, count]) => {
        const own = table.counts[count];
        const control = own.variant === "control" ? { variant: cells.control } : {};
        return [name, { ...filter, ...own, ...control }];
      });
      return { cells, links: Object.fromEntries(links) };
    });
    return { ...table, rows };
  }

  /** Items in the order of a value of each, those without one last. */
  function sorted(items, valueOf, isDescending) {
    const isKnown = (value) => value !== null && value !== undefined;
    const compare = (a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
    return [...items].sort((one, other) => {
      const [a, b] = [valueOf(one), valueOf(other)];
      return isKnown(a) && isKnown(b) ? (isDescending ? -1 : 1) * compare(a, b) : Number(isKnown(b)) - Number(isKnown(a));
    });
  }

  /**
   * A table. columns: [{name, meaning, share, of}], share a column of percentages to have in brackets, of the column that these are of; rows: [{cells, links, hrefs}]:
   * `links` are filters of revisions, `hrefs` addresses, of which the first is that of the row.
   */
  function table({ columns, rows, caption }) {
    let chosen = null;
    const body = h("tbody");
    const texts = new Map(columns.map(({ name }) => [name, formats(name, rows)]));
    const numeric = new Map(columns.map(({ name }) => [name, isNumber(rows, name)]));

    function fill() {
      const order = chosen ? sorted(rows, (row) => row.cells[chosen.name], chosen.descending) : rows;
      body.replaceChildren(
        ...order.map((row) => opening(h("tr", columns.map((column) => h(numeric.get(column.name) ? "td.number" : "td", cell(column, row, texts.get(column.name))))), Object.values(row.hrefs || {})[0])),
      );
      for (const heading of headings) {
        const mine = chosen && heading.dataset.name === chosen.name;
        if (mine) heading.setAttribute("aria-sort", chosen.descending ? "descending" : "ascending");
        else heading.removeAttribute("aria-sort");
      }
    }

    const headings = columns.map(({ name, meaning }) =>
      h(numeric.get(name) ? "th.number" : "th", { scope: "col", "data-name": name },
        h("button.sort", {
          type: "button",
          title: meaning || null,
          onclick: () => {
            const again = chosen && chosen.name === name;
            chosen = { name, descending: again ? !chosen.descending : Boolean(numeric.get(name)) };
            fill();
          },
        }, Names.column(name))),
    );
    const hasRough = rows.some((row) => columns.some(({ name, share }) => isRough(row.cells, name) || isRough(row.cells, share)));
    const element = h("table", h("caption", caption, hasRough ? ` ${ROUGH_NOTE}` : ""), h("thead", h("tr", headings)), body);
    fill();
    return scrolling(element, caption);
  }

  /** A row that a click opens as its link does, unless it ends the choice of a text; by keyboard there is the link. */
  function opening(row, address) {
    if (!address) return row;
    row.classList.add("opens");
    row.addEventListener("click", (event) => {
      if (event.defaultPrevented || event.target.closest("a, button, input, label") || String(getSelection())) return;
      if (event.ctrlKey || event.metaKey) window.open(address, "_blank");
      else location.hash = address;
    });
    return row;
  }

  /** A region that scrolls sideways, by keyboard too, and hints that there is more. */
  function scrolling(element, label) {
    return h("div.scrolls", { tabindex: "0", role: "region", "aria-label": label }, element);
  }

  return { ROUGH, ROUGH_NOTE, isRough, formats, linked, opening, sorted, table, scrolling };
})();
