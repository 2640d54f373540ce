"use strict";

// Tables of counts: rows of objects, numbers to the right, cells that lead to what they count, headings that sort.
const Tables = (() => {
  const isNumber = (rows, name) => rows.some((row) => typeof row.cells[name] === "number");

  function cell({ name, share }, row) {
    const value = row.cells[name];
    const shareText = share ? percent(row.cells[share]) : "";
    const text = shareText ? `${number(value)} (${shareText})` : /_pct$|^pct$/.test(name) ? percent(value) : typeof value === "string" ? Names.value(name, value) : number(value);
    const filter = row.links?.[name];
    const address = row.hrefs?.[name] || (filter && Query.address("revisions", [], filter));
    return address && text !== "" ? link(text, address) : text;
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

  function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    return typeof a === "number" ? a - b : String(a).localeCompare(String(b));
  }

  /**
   * A table. columns: [{name, meaning, share}], share a column of percentages to have in brackets; rows: [{cells, links, hrefs}]:
   * `links` are filters of revisions, `hrefs` addresses.
   */
  function table({ columns, rows, caption }) {
    let sorted = null;
    const body = h("tbody");
    const numeric = new Map(columns.map(({ name }) => [name, isNumber(rows, name)]));

    function fill() {
      const order = [...rows];
      if (sorted) {
        const sign = sorted.descending ? -1 : 1;
        const known = (row) => row.cells[sorted.name] !== null && row.cells[sorted.name] !== undefined;
        order.sort((a, b) => (known(a) && known(b) ? sign : 1) * compare(a.cells[sorted.name], b.cells[sorted.name]));
      }
      body.replaceChildren(
        ...order.map((row) => h("tr", columns.map((column) => h(numeric.get(column.name) ? "td.number" : "td", cell(column, row))))),
      );
      for (const heading of headings) {
        const mine = sorted && heading.dataset.name === sorted.name;
        if (mine) heading.setAttribute("aria-sort", sorted.descending ? "descending" : "ascending");
        else heading.removeAttribute("aria-sort");
      }
    }

    const headings = columns.map(({ name, meaning }) =>
      h(numeric.get(name) ? "th.number" : "th", { scope: "col", "data-name": name },
        h("button.sort", {
          type: "button",
          title: meaning || null,
          onclick: () => {
            const again = sorted && sorted.name === name;
            sorted = { name, descending: again ? !sorted.descending : Boolean(numeric.get(name)) };
            fill();
          },
        }, Names.column(name))),
    );
    const element = h("table", h("caption", caption), h("thead", h("tr", headings)), body);
    fill();
    return scrolling(element, caption);
  }

  /** A region that scrolls sideways, by keyboard too, and hints that there is more. */
  function scrolling(element, label) {
    return h("div.scrolls", { tabindex: "0", role: "region", "aria-label": label }, element);
  }

  return { linked, table, scrolling };
})();
