"use strict";

// Two conditions or two methods side by side: returns and rates with tests of their differences.
(() => {
  const BY = { condition: "conditions", variant: "methods" };

  function choosing(data, query) {
    const go = (changes) => {
      location.hash = Query.address("compare", [], Query.changed(query, changes));
    };
    const select = (id, label, options, value, change) => h("label", label, h(`select#compare-${id}`, { onchange: (event) => change(event.target.value) },
      options.map(([each, name]) => h("option", { value: each, selected: each === value }, name))));
    const sides = (name) => data.choices[data.by].filter((each) => each !== data[name === "a" ? "b" : "a"]).map((each) => [each, Names.value(data.by, each)]);
    const kinds = Object.keys(BY).filter((name) => data.choices[name].length > 1);
    return h("form.filters", { "aria-label": "What is compared", onsubmit: (event) => event.preventDefault() },
      kinds.length > 1 ? select("by", "compare", kinds.map((each) => [each, BY[each]]), data.by, (by) => go({ by, a: null, b: null, condition: null, variant: null })) : null,
      select("a", "first", sides("a"), data.a, (a) => go({ by: data.by, a, b: data.b })),
      select("b", "second", sides("b"), data.b, (b) => go({ by: data.by, a: data.a, b })),
      h("button#compare-swap", { type: "button", onclick: () => go({ by: data.by, a: data.b, b: data.a }) }, "Swap"),
      [data.other, "env"].map((name) => {
        const values = [...new Set(Names.about.holdings.map((row) => row[name]))];
        return values.length < 2 ? null : select(name, Names.column(name), [["", "all"], ...values.map((each) => [each, Names.value(name, each)])],
          query.get(name) || "", (value) => go({ by: data.by, a: data.a, b: data.b, [name]: value || null }));
      }));
  }

  /** Numbers of one row with as many decimals as their spread is worth: two digits of it. */
  function rounding(spread) {
    const decimals = spread > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(spread)))) : 2;
    return (value) => (value === null ? "–" : withMinus(value.toFixed(decimals)));
  }
  const points = rounding(1);
  const spread = (row) => Math.max(row.a_std ?? 0, row.b_std ?? 0);
  const p = (value) => pValue(value) || "–";
  const counted = (text, filter) => link(text, Query.revisions(filter));

  /** A table of one measure: a row per task, and per what both have in common where there are several; the difference first, which narrow screens show. */
  function table(data, rows, caption, heading, cellsOf, format) {
    const common = new Set(rows.map((row) => row[data.other])).size > 1;
    const name = (key) => h("th.number", { scope: "col" }, Names.value(data.by, data[key]));
    return Tables.scrolling(h("table", h("caption", caption),
      h("thead", h("tr", common ? h("th", { scope: "col" }, Names.column(data.other)) : null, h("th", { scope: "col" }, "task"),
        h("th.number", { scope: "col" }, heading), h("th.number", { scope: "col" }, "p"), h("th.number", { scope: "col" }, "Holm p"), name("a"), name("b"))),
      h("tbody", rows.map((row) => h("tr", common ? h("td", Names.value(data.other, row[data.other])) : null, h("th", { scope: "row" }, Names.value("env", row.env)),
        h("td.number", format(row)(row.difference), row.low === null ? null : h("span.interval", ` [${format(row)(row.low)}, ${format(row)(row.high)}]${row.is_rough ? Tables.ROUGH : ""}`)),
        h("td.number", p(row.p)), h("td.number", p(row.holm_p), row.holm_p !== null && row.family > 1 ? h("span.muted", ` of ${row.family}`) : null),
        ["a", "b"].map((key) => h("td.number", cellsOf(row, key))))))), caption);
  }

  function returns(data, metric, caption) {
    const rows = data.returns.filter((row) => row.metric === metric);
    return table(data, rows, caption, "difference [95%]", (row, key) => {
      const runs = row[`${key}_runs`];
      if (!runs) return "no runs";
      const format = rounding(spread(row));
      const std = row[`${key}_std`];
      const mean = `${format(row[`${key}_mean`])}${std === null ? "" : ` ± ${format(std)}`}`;
      return [mean, h("span.muted", " · "), counted(`${number(runs)} ${runs === 1 ? "run" : "runs"}`, row.links[`${key}_runs`])];
    }, (row) => rounding(spread(row)));
  }

  function rates(data, measure) {
    const rows = data.rates.filter((row) => row.measure === measure);
    return table(data, rows, rows[0].title, "difference, points [95%]", (row, key) => {
      if (!row[`${key}_of`]) return "none";
      return [counted(`${number(row[`${key}_count`])} (${percent(row[`${key}_pct`])})`, row.links[`${key}_count`]), h("span.muted", " of "),
        counted(number(row[`${key}_of`]), row.links[`${key}_of`])];
    }, () => points);
  }

  Pages.add({
    name: "compare",
    title: "Compare",
    inNav: true,
    isServedOnly: true,
    isThere: (about) => ["condition", "variant"].some((name) => new Set(about.holdings.map((row) => row[name])).size > 1),
    async render(main, { query }) {
      const data = await Data.get("compare", query);
      if (!data.by) {
        main.append(h("h1", "Compare"), h("p", "There is one condition and one method here: nothing to compare."));
        return;
      }
      main.append(
        h("h1", `${Names.value(data.by, data.a)} and ${Names.value(data.by, data.b)}`),
        choosing(data, query),
        h("p", "A difference is the first less the second, within each task",
          data.choices[data.other].length > 1 ? ` and ${Names.column(data.other)}` : "", ". Every count leads to its revisions."),
        h("section#returns", h("h2", "Returns of runs"),
          h("p.muted", "Mean ± standard deviation over runs, and Welch's t-test: whether the means of two methods differ when their runs need not spread alike. Holm's correction is over the tasks. A p-value above 0.05 does not say that the two are equal: with few runs only large differences are found, and the interval states which remain possible."),
          returns(data, "best_return", Names.worded("Best return of a run")), returns(data, "mean_return", Names.worded("Mean return of a run"))),
        h("section#rates", h("h2", "Rates of revisions"),
          h("p.muted", `Revisions of a run depend on each other, so that runs are the clusters of the test: a linear regression of the rate with CR2 standard errors and Satterthwaite's degrees of freedom. Without two runs of each, or where nothing varies, there is no interval; ${Tables.ROUGH_NOTE} A difference of rates does not say why: the two also start from different policies, which audit controls allows for.`),
          [...new Set(data.rates.map((row) => row.measure))].map((measure) => rates(data, measure))),
      );
    },
  });
})();
