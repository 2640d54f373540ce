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
    for (const tag of query.getAll("tag")) {
      items.push(h("li", h("button", {
        type: "button", "aria-label": `Remove the tag ${shown(tag)}`, onclick: () => restart(query, { tag: query.getAll("tag").filter((each) => each !== tag) }),
      }, `tag: ${shown(tag)} ×`)));
    }
    const rows = query.getAll("rows").reduce((sum, each) => sum + each.split("/").at(-1).split(".").length, 0);
    if (rows) items.push(h("li", h("button", { type: "button", "aria-label": "Remove the list of revisions", onclick: () => restart(query, { rows: null }) }, `${number(rows)} listed ×`)));
    if (query.get("star")) items.push(h("li", h("button", { type: "button", "aria-label": "Remove the filter star", onclick: () => restart(query, { star: null }) }, "star ×")));
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

  /** What a search changes in an address: `column:value` is a filter, `-column:value` one for all others. */
  function asking(query, text) {
    const changes = {};
    const names = new Map(Names.about.columns.flatMap((each) => [[each.name, each.name], [Names.column(each.name), each.name]]));
    const rest = text.replace(/(^|\s)(-?)([\wΔ₀₁]+):("[^"]*"|\S+)/g, (whole, space, minus, column, value) => {
      const isMark = !minus && (column === "tag" || (column === "star" && value === "true"));
      const name = isMark ? column : names.get(column);
      if (!name) return whole;
      const own = value.replace(/^"|"$/g, "");
      changes[name] = [...(changes[name] || query.getAll(name)), (minus ? "!" : "") + own];
      return space;
    });
    return { ...changes, q: rest.trim() || null };
  }

  const ANSWER = "answer"; // no column of the table: where the search is in the answer, or how it begins

  /** Snippets come after the table, since the answers are read for them. */
  async function fill(query, body) {
    try {
      const { snippets } = await Data.get("snippets", Query.changed(Query.selection(query), { page: query.get("page") }));
      [...body.querySelectorAll("td.answer")].forEach((cell, place) => {
        const found = snippets[place];
        if (!found) return;
        cell.querySelector("div").replaceChildren(found.where ? h("span.muted", `${found.where}: `) : "", shown(found.before), found.match ? h("mark", shown(found.match)) : "", shown(found.after));
      });
    } catch (error) {
      body.querySelector("td.answer")?.replaceChildren(h("span.error", shown(error.message)));
    }
  }

  function searching(query) {
    const input = h("input#search", { type: "search", value: query.get("q") || "", placeholder: 'words "a phrase" -not pattern:fine_tune', title: "Words and phrases in answers and thinking, all of which are to be there; -word: not there; column:value filters", "aria-label": "Search in answers and thinking", maxlength: "200" });
    return h("form", {
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        restart(query, asking(query, input.value));
      },
    }, input, h("button", { type: "submit" }, "Search"));
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

  function download(query, columns) {
    const chosen = Query.changed(Query.selection(query), { columns: columns.filter((name) => name !== ANSWER).join(",") });
    return link("Download CSV", Data.isExported ? "revisions.csv" : `api/download?${chosen}`, { download: "" });
  }

  const KEY = ["condition", "env", "variant", "run", "iteration"];

  function grid(query, found, columns) {
    const place = new Map(found.columns.map((name, index) => [name, index]));
    const sort = (query.get("sort") || "").split(",")[0];
    const kinds = new Map(Names.about.columns.map((each) => [each.name, each.kind]));
    const headings = columns.map((name) => {
      if (name === ANSWER) return h("th", { scope: "col" }, "answer");
      const isSorted = sort === name || sort === `-${name}`;
      const next = sort === `-${name}` ? name : sort === name ? null : kinds.get(name) === "number" ? `-${name}` : name;
      return h(kinds.get(name) === "number" ? "th.number" : "th", {
        scope: "col", "aria-sort": isSorted ? (sort[0] === "-" ? "descending" : "ascending") : null,
      }, h("button.sort", { type: "button", id: `sort-${name}`, title: Names.meaning(name), onclick: () => restart(query, { sort: next }) }, Names.column(name)));
    });
    if (found.marks) headings.splice(1, 0, h("th", { scope: "col" }, "marks"));
    const cells = found.rows.map((row) => ({ cells: Object.fromEntries(found.columns.map((name, index) => [name, row[index]])) }));
    const texts = new Map(columns.filter((name) => kinds.get(name) === "number").map((name) => [name, Tables.formats(name, cells)]));
    const rows = found.rows.map((row, line) => {
      const key = KEY.map((name) => row[place.get(name)]);
      const href = Query.address("revision", key, Query.selection(query));
      const direction = row[place.get("direction")];
      const [first, ...others] = columns.map((name, index) => {
        if (name === ANSWER) return h("td.answer", h("div", "…"));
        const value = row[place.get(name)];
        const text = kinds.get(name) === "number" ? texts.get(name)(cells[line], value) : value === null ? "" : Names.value(name, value);
        const tag = kinds.get(name) === "number" ? "td.number" : "td";
        return h(name === "delta" && direction !== "no_change" ? `${tag}.${direction}` : tag,
          name === "iteration" || (index === 0 && !columns.includes("iteration")) ? link(text, href) : text);
      });
      if (!Data.isExported) first.prepend(Choice.box(key), " ");
      const marked = found.marks ? h("td.marks", Marks.brief(found.marks[line])) : null;
      return Tables.opening(h("tr", first, marked, others), href);
    });
    const body = h("tbody", rows);
    if (columns.includes(ANSWER)) fill(query, body);
    return Tables.scrolling(h("table", h("caption", plural(found.total, "revision")), h("thead", h("tr", headings)), body), "Revisions");
  }

  /** The values of columns with how many revisions have each, to filter by. */
  async function counts(query) {
    const about = Names.about;
    const ranges = ["r0", "delta", "p_no_change", "edit_distance", "edit_ratio", "severity"].filter((name) => about.columns.some((each) => each.name === name && !each.empty));
    const filtered = Query.filters(query).map(([name]) => name);
    const counted = [...new Set([...about.facets, ...ranges, ...filtered])];
    const facets = await Data.get("facets", Query.changed(Query.selection(query), { facets: counted.join(","), sort: null }));
    const marks = await Data.get("tags", Query.changed(Query.selection(query), { tag: null, star: null, sort: null }));
    const links = [...(marks.stars ? [["★", marks.stars, { star: "true" }]] : []), ...marks.tags.map(([tag, count]) => [tag, count, { tag }])];
    const marked = links.map(([text, count, changes]) => h("li", link(shown(text), Query.address("revisions", [], Query.changed(query, { page: null, ...changes }))), h("span.count", ` ${number(count)}`)));
    return h("aside.facets", { "aria-label": "Filters and counts" }, marked.length ? h("details", { open: true }, h("summary", "stars and tags"), h("ul", marked)) : null, marks.problems.map((each) => h("p.error", shown(each))), filters(counted.map((name) => facet(query, name, facets[name]))));
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

  function listed(query, found, columns) {
    const isPart = [...Query.selection(query).keys()].some((name) => name !== "sort");
    if (!found.total && !isPart) return h("p", "These records have no revisions; ", link("their runs", Query.address("runs")), ".");
    if (!found.total) return h("p", "No revision matches; remove a filter, or ", link("show all revisions", Query.address("revisions")), ".");
    const last = Math.ceil(found.total / Names.about.page);
    if (found.rows.length) return [grid(query, found, columns), paging(query, found)];
    return h("p", `There is no page ${number(found.page)}: of ${plural(found.total, "revision")} there ${last === 1 ? "is" : "are"} ${number(last)}. `,
      link("To the last page", Query.address("revisions", [], Query.changed(query, { page: String(last) }))));
  }

  Pages.add({
    name: "revisions",
    title: "Revisions",
    inNav: true,
    async render(main, { query }) {
      const about = Names.about;
      if (!Data.isExported) Choice.take(query);
      // Another viewer may have marked some since.
      for (const path of ["tags", "revisions"]) if (!Data.isExported) Data.forget(path);
      const usual = query.get("q") ? about.shown.flatMap((name) => (name === "iteration" ? [name, ANSWER] : [name])) : about.shown;
      const columns = (query.get("columns") || usual.join(",")).split(",").filter((name) => name && !(name === ANSWER && Data.isExported));
      const wanted = [...new Set([...columns, "direction"])].filter((name) => name !== ANSWER);
      const asked = Query.changed(Query.selection(query), { page: query.get("page"), columns: wanted.join(",") });
      if (Data.isExported && (Query.filters(query).length || ["q", "rows", "star", "tag"].some((name) => query.get(name)))) throw new Error(Data.notice);
      const [found, facets] = await Promise.all([Data.get("revisions", asked), Data.isExported ? null : counts(query)]);
      Pages.announce(plural(found.total, "revision"));
      const again = (isOfAll) => (isOfAll ? restart(query, { rows: null }) : Pages.show());
      const [bar, left] = Data.isExported ? [null, null] : Choice.bar(query, columns.filter((name) => name !== ANSWER), again);
      Pages.onKey("x", () => document.activeElement.closest("tr")?.querySelector("input.choose")?.click());
      main.append(h("h1", "Revisions"), Data.notice ? h("p.notice", Data.notice) : "", h(facets ? "div.layout" : "div", facets,
        h("div",
          h("div.bar", facets ? searching(query) : null, download(query, columns)),
          chips(query), bar, listed(query, found, columns),
        )));
      return left;
    },
  });
})();
