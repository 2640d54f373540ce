"use strict";

// All revisions: sorted, filtered, counted by facets, searched, downloaded. The address holds everything.
(() => {
  const go = (query) => {
    location.hash = Query.address("revisions", [], query);
  };
  const restart = (query, changes) => go(Query.changed(query, { page: null, ...changes }));

  function chips(query) {
    const items = Query.filters(query).map(([name, value]) => {
      const rest = query.getAll(name).filter((each) => each !== value);
      return h("li", h("button", {
        type: "button",
        "aria-label": `Remove the filter ${Names.column(name)} ${Names.filter(name, value)}`,
        onclick: () => restart(query, { [name]: rest }),
      }, `${Names.column(name)}: ${Names.filter(name, value)} ×`));
    });
    if (query.get("q")) {
      items.push(h("li", h("button", {
        type: "button", "aria-label": "Remove the search", onclick: () => restart(query, { q: null }),
      }, `text: ${shown(query.get("q"))} ×`)));
    }
    return items.length ? h("ul.chips", { "aria-label": "Filters" }, items) : null;
  }

  // Which facets are open, as long as the page is not loaded anew; those that are filtered are open anyway.
  const opened = new Set(["direction", "env", "variant", "pattern", "cites", "strict"]);

  function disclosed(name, isChosen, ...content) {
    return h("details", {
      open: isChosen || opened.has(name),
      ontoggle: (event) => (event.target.open ? opened.add(name) : opened.delete(name)),
    }, h("summary", { title: Names.meaning(name) }, Names.column(name)), content);
  }

  const raw = (value) => (value === null ? "" : String(value));

  function facet(query, name, found) {
    const chosen = query.getAll(name);
    if (found.range) return ranged(query, name, found.range, chosen);
    const values = found.values.map(([value, count]) => {
      const text = raw(value);
      const isOn = chosen.includes(text);
      return h("li", h("label",
        h("input", {
          type: "checkbox",
          checked: isOn,
          id: `facet-${name}-${text}`,
          onchange: () => restart(query, { [name]: isOn ? chosen.filter((each) => each !== text) : [...chosen, text] }),
        }),
        h("span", Names.value(name, value)), h("span.count", number(count))));
    });
    return disclosed(name, chosen.length > 0, h("ul", values));
  }

  function ranged(query, name, [low, high], chosen) {
    const [from = "", to = ""] = (chosen[0] || "").split("..");
    const ends = ["from", "to"].map((end, place) =>
      h("input", { type: "number", step: "any", "aria-label": `${Names.column(name)} ${end}`, value: [from, to][place], placeholder: number([low, high][place]) }));
    const apply = () => {
      const [a, b] = ends.map((each) => each.value);
      restart(query, { [name]: a || b ? `${a}..${b}` : null });
    };
    ends.forEach((each) => each.addEventListener("change", apply));
    return disclosed(name, chosen.length > 0, h("div.range", ends[0], "to", ends[1]));
  }

  function searching(query) {
    const input = h("input#search", { type: "search", value: query.get("q") || "", placeholder: "words in answers and thinking", "aria-label": "Search in answers and thinking", maxlength: "200" });
    return h("form", {
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        restart(query, { q: input.value || null });
      },
    }, input, h("button", { type: "submit" }, "Search"));
  }

  function columnsChooser(query, columns) {
    const names = Names.about.columns.filter((each) => !each.empty).map((each) => each.name);
    return h("details", {
      open: opened.has("columns"),
      ontoggle: (event) => (event.target.open ? opened.add("columns") : opened.delete("columns")),
    }, h("summary", "Columns"), h("ul.columns", names.map((name) => {
      const isOn = columns.includes(name);
      return h("li", h("label", h("input", {
        type: "checkbox",
        checked: isOn,
        id: `column-${name}`,
        onchange: () => go(Query.changed(query, {
          columns: (isOn ? columns.filter((each) => each !== name) : names.filter((each) => columns.includes(each) || each === name)).join(","),
        })),
      }), ` ${Names.column(name)}`, h("span.muted", ` ${Names.meaning(name)}`)));
    })));
  }

  function paging(query, found) {
    const page = found.page;
    const last = Math.max(1, Math.ceil(found.total / Names.about.page));
    const to = (number, text) => h("button", {
      type: "button", disabled: number < 1 || number > last || number === page,
      onclick: () => go(Query.changed(query, { page: String(number) })),
    }, text);
    return h("div.bar.paging", to(1, "First"), to(page - 1, "Previous"), h("span", `page ${number(page)} of ${number(last)}`), to(page + 1, "Next"), to(last, "Last"));
  }

  function downloads(query, columns) {
    const chosen = Query.changed(Query.selection(query), { columns: columns.join(",") });
    if (Data.isExported) return link("Download CSV", "revisions.csv", { download: "" });
    return h("span", "Download: ", ["csv", "parquet", "latex"].flatMap((format, place) => {
      const href = `api/download?${Query.changed(chosen, { format })}`;
      return [place ? " · " : "", link({ csv: "CSV", parquet: "Parquet", latex: "LaTeX" }[format], href, { download: "" })];
    }));
  }

  const KEY = ["condition", "env", "variant", "run", "iteration"];

  function grid(query, found, columns) {
    const place = new Map(found.columns.map((name, index) => [name, index]));
    const sort = (query.get("sort") || "").split(",")[0];
    const kinds = new Map(Names.about.columns.map((each) => [each.name, each.kind]));
    const headings = columns.map((name) => {
      const isSorted = sort === name || sort === `-${name}`;
      const next = sort === `-${name}` ? name : sort === name ? null : kinds.get(name) === "number" ? `-${name}` : name;
      return h(kinds.get(name) === "number" ? "th.number" : "th", {
        scope: "col", "aria-sort": isSorted ? (sort[0] === "-" ? "descending" : "ascending") : null,
      }, h("button.sort", { type: "button", id: `sort-${name}`, title: Names.meaning(name), onclick: () => restart(query, { sort: next }) }, Names.column(name)));
    });
    const cells = found.rows.map((row) => ({ cells: Object.fromEntries(found.columns.map((name, index) => [name, row[index]])) }));
    const texts = new Map(columns.filter((name) => kinds.get(name) === "number").map((name) => [name, Tables.formats(name, cells)]));
    const rows = found.rows.map((row, line) => {
      const key = KEY.map((name) => row[place.get(name)]);
      const href = Query.address("revision", key, Query.selection(query));
      const direction = row[place.get("direction")];
      return Tables.opening(h("tr", columns.map((name, index) => {
        const value = row[place.get(name)];
        const text = kinds.get(name) === "number" ? texts.get(name)(cells[line], value) : value === null ? "" : Names.value(name, value);
        const tag = kinds.get(name) === "number" ? "td.number" : "td";
        return h(name === "delta" && direction !== "no_change" ? `${tag}.${direction}` : tag,
          name === "iteration" || (index === 0 && !columns.includes("iteration")) ? link(text, href) : text);
      })), href);
    });
    return Tables.scrolling(h("table", h("caption", `${number(found.total)} revisions`), h("thead", h("tr", headings)), h("tbody", rows)), "Revisions");
  }

  /** The values of columns with how many revisions have each, to filter by. */
  async function counts(query) {
    const about = Names.about;
    const ranges = ["r0", "delta", "p_no_change", "edit_distance", "edit_ratio", "severity"].filter((name) => about.columns.some((each) => each.name === name && !each.empty));
    const filtered = Query.filters(query).map(([name]) => name);
    const counted = [...new Set([...about.facets, ...ranges, ...filtered])];
    const facets = await Data.get("facets", Query.changed(Query.selection(query), { facets: counted.join(","), sort: null }));
    return h("aside.facets", { "aria-label": "Filters and counts" }, filters(counted.map((name) => facet(query, name, facets[name]))));
  }

  /** The facets; on a narrow screen behind one line, so that the table comes first. */
  function filters(facets) {
    const isWide = matchMedia("(min-width: 801px)").matches;
    return isWide ? facets : h("details", {
      open: opened.has("filters"),
      ontoggle: (event) => {
        if (event.target.classList.contains("all")) (event.target.open ? opened.add("filters") : opened.delete("filters"));
      },
      class: "all",
    }, h("summary", "Filters"), facets);
  }

  Pages.add({
    name: "revisions",
    title: "Revisions",
    inNav: true,
    async render(main, { query }) {
      const about = Names.about;
      const columns = (query.get("columns") || about.shown.join(",")).split(",").filter(Boolean);
      const asked = Query.changed(Query.selection(query), { page: query.get("page"), columns: [...new Set([...columns, "direction"])].join(",") });
      if (Data.isExported && (Query.filters(query).length || query.get("q"))) throw new Error(Data.notice);
      const [found, facets] = await Promise.all([Data.get("revisions", asked), Data.isExported ? null : counts(query)]);
      Pages.announce(`${number(found.total)} revisions`);
      main.append(h("h1", "Revisions"), Data.notice ? h("p.notice", Data.notice) : "", h(facets ? "div.layout" : "div", facets,
        h("div",
          h("div.bar", facets ? searching(query) : null, downloads(query, columns), columnsChooser(query, columns)),
          chips(query), found.total ? [grid(query, found, columns), paging(query, found)] : h("p", "No revision matches; remove a filter."),
        )));
    },
  });
})();
