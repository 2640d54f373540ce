"use strict";

// What is in the data, and its charts and tables of counts; every count leads to the revisions that it counts.
(() => {
  const unique = (rows, name) => [...new Set(rows.map((row) => row[name]))];
  const CONDITIONS = 3; // that charts show unless some are chosen
  const ROWS = 60; // of a table that is closed at first
  const PARAGRAPHS = 5;

  function facts(about, every, query) {
    const isWhole = every.length === about.holdings.length;
    const given = [
      ["conditions", unique(every, "condition").length, null],
      ["tasks", unique(every, "env").length, null],
      ["methods", unique(every, "variant").length, null],
      ["runs", d3.sum(every, (row) => row.runs), isWhole ? "#/runs" : null],
      ["revisions", d3.sum(every, (row) => row.revisions), isWhole || !Data.isExported ? Query.address("revisions", [], query) : null],
      ["problems", about.problems_total, null],
    ];
    return h("dl.facts", given.map(([name, value, href]) =>
      h("div", h("dt", name), h("dd", href ? link(number(value), href) : number(value)))));
  }

  function problems(about) {
    if (!about.problems_total) return null;
    const rest = about.problems_total - about.problems.length;
    return h("details", h("summary", `${number(about.problems_total)} problems in the records, left out`),
      h("ul", about.problems.map((each) => h("li", shown(each))), rest > 0 ? h("li", `… and ${number(rest)} more`) : null));
  }

  // In the order of the page: what a table counts, and its columns; [count, share, what it is a share of] are one column.
  const TABLES = {
    summary: ["What revisions did to the return; percentages are of revisions.",
      ["condition", "env", "variant", "runs", "revisions", ["regressions", "regressions_pct"], "improvements", "no_change", ["accepted", "accepted_pct"], "mean_delta"]],
    salience: ["Regressions whose answer cites the item of interest (by default the worst rollout), by the strict and the permissive criterion, and how far below the other rollouts it was.",
      ["condition", "env", "variant", "revisions", ["regressions", "regressions_pct", "revisions"], ["strict", "strict_pct", "regressions"], ["permissive", "permissive_pct", "regressions"], "worst_below_median", "worst_below_best", "risk_ratio"]],
    rates: ["How often answers cite among regressions, improvements and unchanged returns, and how often revisions regress that do and do not cite. A risk ratio of 1: no difference.",
      ["condition", "env", "variant", "runs", ["citing_regressions", "citing_regressions_pct", "regressions"], ["citing_improvements", "citing_improvements_pct", "improvements"], ["citing_no_change", "citing_no_change_pct", "no_change"], "regressions_citing_pct", "regressions_not_citing_pct", "risk_ratio", "holm_p"]],
    controls: ["Regressions of each method beside those of the control, among revisions of policies that were equally good before.",
      ["condition", "env", "variant", "start", "revisions", ["regressions", "regressions_pct"], "control_revisions", "control_regressions", "control_regressions_pct", "difference_pct"]],
    noise: ["How many regressions there would be by chance if no revision changed anything, and how many are beyond it (p ≤ 0.05).",
      ["condition", "env", "variant", "revisions", "tested", "regressions", "expected_regressions", "expected_pooled", "beyond_noise", "strict", "strict_beyond_noise", "citing_regressions", "citing_beyond_noise"]],
    patterns: ["Revisions by the size of the edit, the return before it and what became of it.",
      ["condition", "env", "variant", "pattern", ["revisions", "pct"]]],
    severity: ["Revisions by how far the worst rollout is from the others, and whether it is cited then.",
      ["condition", "env", "variant", "degree", "revisions", ["citing", "citing_pct"], ["regressions", "regressions_pct"], "citing_regressions", "mean_delta"]],
    agreement: ["Revisions by how the returns of the worst, median and best rollout are ordered.",
      ["condition", "env", "variant", "structure", "revisions", "mean_delta"]],
  };

  function section(table, about, passes) {
    const one = new Set(["condition", "env", "variant"].filter((name) => unique(about.holdings, name).length < 2));
    const [caption, wanted] = TABLES[table.name];
    const rows = table.rows.filter((row) => passes(row.cells));
    const isKnown = (name) => rows.some((row) => row.cells[name] !== null && row.cells[name] !== undefined);
    const columns = wanted.map((each) => [each].flat()).filter(([name]) => !one.has(name) && isKnown(name))
      .map(([name, share, of]) => ({ ...table.columns.find((each) => each.name === name), share, of }));
    if (table.name === "controls" && !rows.some((row) => row.cells.control_revisions)) return null;
    const make = () => Tables.table({ caption: Names.worded(caption), columns, rows });
    const body = rows.length <= ROWS ? make() : h("details", {
      ontoggle: (event) => {
        if (event.target.childNodes.length === 1) event.target.append(make());
      },
    }, h("summary", plural(rows.length, "row")));
    return rows.length ? h(`section#${table.name}`, { tabindex: "-1" }, h("h3", table.title), body) : null;
  }

  const FILTERS = ["condition", "env", "variant"];

  /** What `audit salience` says of each condition, task and method. */
  function answers(every) {
    const rest = every.length - PARAGRAPHS;
    const more = rest > 0 ? h("p.muted", `… and ${number(rest)} more: choose a task or method below`) : null;
    return h("section#answers", { "aria-label": "In short" }, every.slice(0, PARAGRAPHS).map(({ text }) => h("p", shown(text))), more);
  }

  function filtering(about, query) {
    const choices = FILTERS.map((name) => [name, unique(about.holdings, name)]).filter(([, values]) => values.length > 1);
    if (!choices.length) return null;
    return h("form.filters", { "aria-label": "What is shown", onsubmit: (event) => event.preventDefault() }, choices.map(([name, values]) =>
      h("label", Names.column(name), h(`select#overview-${name}`, {
        onchange: (event) => {
          location.hash = Query.address("overview", [], Query.changed(query, { [name]: event.target.value || null }));
        },
      }, h("option", { value: "" }, "all"), values.map((value) =>
        h("option", { value, selected: query.getAll(name).includes(value) }, Names.value(name, value)))))));
  }

  /** Links within the page; its address is its hash, so that these are buttons. */
  function contents(groups) {
    return h("nav.contents", { "aria-label": "On this page" }, Object.entries(groups).map(([title, parts]) => [h("p", title), h("ul", parts.map((part) => h("li", h("button", {
      type: "button",
      onclick: () => {
        part.scrollIntoView();
        part.focus({ preventScroll: true });
      },
    }, part.querySelector("h3").textContent))))]));
  }

  Pages.add({
    name: "overview",
    title: "Overview",
    inNav: true,
    async render(main, { query }) {
      const about = Names.about;
      const chosen = FILTERS.map((name) => [name, query.getAll(name)]).filter(([, values]) => values.length);
      const given = await Data.get("overview");
      const overview = { ...given, tables: given.tables.map(Tables.linked) };
      const passes = (row) => chosen.every(([name, values]) => values.includes(row[name]));
      const first = unique(about.holdings.filter(passes), "condition");
      const drawn = new Set(first.slice(0, CONDITIONS));
      const charts = OverviewCharts.all(overview, (row) => passes(row) && drawn.has(row.condition));
      const order = Object.keys(TABLES);
      const tables = [...overview.tables].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
        .map((table) => section(table, about, passes)).filter(Boolean);
      main.append(h("div.overview", contents({ Charts: charts, Tables: tables }), h("div",
        h("h1", "Overview"),
        h("p.muted", about.paths.map(shown).join(", ")),
        about.caption ? h("p.notice", shown(about.caption)) : null,
        Data.notice ? h("p.notice", Data.notice) : null,
        answers(overview.answers.filter(passes)),
        ...about.notes.map((note) => h("p.muted", shown(note))),
        facts(about, about.holdings.filter(passes), query),
        problems(about),
        h("p.muted", `References to ${about.about === "worst" ? Names.worded("the worst rollout") : shown(about.about)} are found by the detector ${shown(about.detector)}. Every number that is a link leads to ${Data.isExported ? "what it counts" : "the revisions that it counts"}.`),
        filtering(about, query),
        first.length > CONDITIONS ? h("p.muted", `Charts show the first ${CONDITIONS} of ${first.length} conditions; choose one above to see another. Tables have all.`) : null,
        h("h2", "Charts"), charts, h("h2", "Tables"), tables,
      )));
    },
  });
})();
