"use strict";

// SQL over the relations, its result as a table, and one chart of any of its columns. The address holds everything.
(() => {
  const KEY = ["condition", "env", "variant", "run", "iteration"];
  const SHOWN = 500; // rows of the table
  const FIRST = "select condition, env, variant, run, iteration, r0, delta, pattern\nfrom revisions\nwhere direction = 'regression'";
  const MARKS = ["dot", "line", "bar"];
  const AGGREGATES = ["none", "count", "mean", "median", "sum"];

  const text = (value) => (value === null ? "" : typeof value === "object" ? JSON.stringify(value) : typeof value === "number" ? number(value) : shown(String(value)));

  function table({ columns, rows, more }) {
    const places = KEY.map((name) => columns.indexOf(name));
    const isKeyed = !places.includes(-1);
    const cell = (row, value, place) => {
      const isLink = isKeyed && place === places[KEY.length - 1];
      const content = isLink ? link(text(value), Query.address("revision", places.map((each) => row[each]))) : text(value);
      return h(typeof value === "number" ? "td.number" : "td", content);
    };
    const count = `${number(rows.length)}${more ? " and more" : ""} rows${rows.length > SHOWN ? `, the first ${number(SHOWN)}` : ""}`;
    return Tables.scrolling(h("table", h("caption", count), h("thead", h("tr", columns.map((name, place) => h(typeof rows[0]?.[place] === "number" ? "th.number" : "th", { scope: "col" }, shown(name))))),
      h("tbody", rows.slice(0, SHOWN).map((row) => h("tr", row.map((value, place) => cell(row, value, place)))))), "Result");
  }

  function select(name, options, chosen, onchange) {
    return h("label", `${name} `, h("select", { id: `chart-${name}`, onchange: (event) => onchange(event.target.value) }, options.map((each) => h("option", { value: each, selected: each === chosen }, each === "" ? "–" : shown(each)))));
  }

  /** A dot of a colour, for a legend. */
  function swatch(fill) {
    const svg = d3.create("svg").attr("width", 10).attr("height", 10).attr("aria-hidden", "true");
    svg.append("circle").attr("cx", 5).attr("cy", 5).attr("r", 5).attr("fill", fill);
    return svg.node();
  }

  /** The chart of a result: columns by their names, of which the first counts where several have one. */
  function chart({ columns, rows, more }, query) {
    const go = (name) => (value) => { location.hash = Query.address("sql", [], Query.changed(query, { [name]: value || null })); };
    const of = (name) => (columns.includes(query.get(name)) ? query.get(name) : "");
    const [x, y, colour, facet] = ["x", "y", "colour", "facet"].map(of);
    const aggregate = AGGREGATES.includes(query.get("aggregate")) ? query.get("aggregate") : "none";
    const mark = MARKS.includes(query.get("mark")) ? query.get("mark") : aggregate === "none" ? "dot" : "bar";
    const controls = h("div.filters", { role: "group", "aria-label": "Chart" },
      ["x", "y", "colour", "facet"].map((name) => select(name, ["", ...new Set(columns)], of(name), go(name))),
      select("aggregate", AGGREGATES, aggregate, go("aggregate")), select("mark", MARKS, mark, go("mark")));
    if (!x || (!y && aggregate !== "count")) return [controls, h("p.muted", "Choose x and y, or x and the aggregate count, for a chart.")];
    const at = (name) => columns.indexOf(name);
    const used = [x, aggregate === "count" ? "" : y, colour, facet].filter(Boolean);
    const known = rows.filter((row) => used.every((name) => row[at(name)] !== null));
    if (!known.length) return [controls, h("p.muted", "All rows have an unknown value in a column of the chart.")];
    if (mark === "bar" && aggregate === "none") return [controls, h("p.muted", "Bars need an aggregate.")];
    const channel = (name) => (row) => (typeof row[at(name)] === "number" ? row[at(name)] : text(row[at(name)]));
    const groups = { x: channel(x), ...(colour ? { stroke: channel(colour), fill: channel(colour) } : { stroke: "var(--accent)", fill: "var(--accent)" }), ...(facet ? { fx: channel(facet) } : {}) };
    const isNumeric = typeof known[0][at(x)] === "number";
    const reduced = (given) => {
      const options = { ...given, tip: { fill: "var(--paper)", stroke: "var(--line)" } };
      return aggregate === "none" ? options : Plot.groupX({ y: aggregate }, options);
    };
    const given = { ...groups, ...(y && aggregate !== "count" ? { y: channel(y) } : {}) };
    const { fill, ...lined } = given;
    const { stroke, ...filled } = given;
    const names = colour ? [...new Set(known.map(channel(colour)))].sort() : [];
    const isNamed = names.length > 0 && names.length <= d3.schemeTableau10.length && typeof names[0] === "string";
    const drawn = { dot: () => Plot.dot(known, reduced({ ...filled, r: 3, fillOpacity: 0.7 })), line: () => Plot.lineY(known, reduced({ ...lined, z: colour ? channel(colour) : null, sort: "x" })), bar: () => Plot.barY(known, reduced(filled)) }[mark]();
    const label = aggregate === "count" ? "count" : aggregate === "none" ? y : `${aggregate} of ${y}`;
    const figure = Charts.plot(`${label} by ${x}${colour ? `, coloured by ${colour}` : ""}${facet ? `, for each ${facet}` : ""}`, {
      width: Charts.width(1, 0), height: 360, marginLeft: 60, marginBottom: 50,
      x: { label: x, ...(mark === "bar" || !isNumeric ? { type: "band" } : {}) }, y: { label, grid: true }, ...(facet ? { fx: { label: facet } } : {}),
      ...(isNamed ? { color: { domain: names, range: d3.schemeTableau10.slice(0, names.length) } } : {}), marks: [drawn],
    });
    const left = rows.length - known.length;
    return [controls, h("figure.chart", figure, h("figcaption.muted", `${number(known.length)} rows${left ? `; ${number(left)} with unknown values left out` : ""}${more ? "; the result has more rows than were sent" : ""}.`,
isNamed ? names.map((name, place) => [" ", swatch(d3.schemeTableau10[place]), ` ${name}`]) : ""))];
  }

  function help(relations, area) {
    const insert = (name) => h("button", { type: "button", onclick: () => { area.setRangeText(name, area.selectionStart, area.selectionEnd, "end"); area.focus(); } }, name);
    return h("details", h("summary", "Relations and their columns"), relations.map((each) => h("details", h("summary", `${each.name}: a row is ${each.row}`),
      h("ul", Object.entries(each.columns).map(([name, meaning]) => h("li", insert(name), h("span.muted", ` ${meaning}`)))))));
  }

  Pages.add({
    name: "sql",
    title: "SQL",
    inNav: true,
    isServedOnly: true,
    async render(main, { query }) {
      const { relations } = await Data.get("relations");
      const area = h("textarea#sql", { rows: "6", spellcheck: false, "aria-label": "A SELECT over the relations", maxlength: "10000" });
      area.value = query.get("sql") || FIRST;
      const run = () => { location.hash = Query.address("sql", [], Query.changed(query, { sql: area.value })); };
      area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(); });
      main.append(h("h1", "SQL and charts"), area, h("p", h("button", { type: "button", onclick: run }, "Run (Ctrl+Enter)")), help(relations, area));
      if (!query.get("sql")) return;
      try {
        const found = await Data.get("sql", new URLSearchParams({ sql: query.get("sql") }));
        Pages.announce(plural(found.rows.length, "row"));
        main.append(...chart(found, query), table(found));
      } catch (error) {
        main.append(h("p.error", { role: "alert" }, shown(error.message)));
        Pages.announce("The query failed");
      }
    },
  });
})();
