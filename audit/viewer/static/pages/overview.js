"use strict";

// What is in the data, and its tables and charts of counts; every count leads to the revisions that it counts.
(() => {
  const unique = (rows, name) => [...new Set(rows.map((row) => row[name]))];

  function facts(about, overview) {
    const every = about.holdings;
    const given = [
      ["conditions", unique(every, "condition").length, null],
      ["tasks", unique(every, "env").length, null],
      ["methods", unique(every, "variant").length, null],
      ["runs", overview.runs, "#/runs"],
      ["revisions", about.revisions, "#/revisions"],
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

  const ESSENTIAL = {
    summary: ["condition", "env", "variant", "runs", "revisions", "regressions", "regressions_pct", "improvements", "no_change", "accepted", "mean_delta"],
    salience: ["condition", "env", "variant", "revisions", "regressions", "strict", "strict_pct", "permissive", "permissive_pct", "worst_below_median", "worst_below_best", "citing_regressions_pct", "citing_improvements_pct", "citing_no_change_pct", "risk_ratio"],
    rates: ["condition", "env", "variant", "runs", "citing_regressions", "regressions", "citing_improvements", "improvements", "citing_no_change", "no_change", "regressions_citing_pct", "regressions_not_citing_pct", "risk_ratio", "holm_p"],
    patterns: ["condition", "env", "variant", "pattern", "revisions", "pct"],
    agreement: ["condition", "env", "variant", "structure", "revisions", "mean_delta"],
    severity: ["condition", "env", "variant", "degree", "revisions", "citing", "citing_pct", "regressions", "regressions_pct", "citing_regressions", "mean_delta"],
    noise: ["condition", "env", "variant", "revisions", "tested", "regressions", "expected_regressions", "expected_pooled", "beyond_noise", "strict", "strict_beyond_noise", "citing_regressions", "citing_beyond_noise"],
    controls: ["condition", "env", "variant", "start", "revisions", "regressions", "regressions_pct", "control_revisions", "control_regressions", "control_regressions_pct", "difference_pct"],
  };

  function narrowed(table, about) {
    const one = new Set(["condition", "env", "variant"].filter((name) => unique(about.holdings, name).length < 2));
    const wanted = ESSENTIAL[table.name].filter((name) => !one.has(name));
    const columns = wanted.map((name) => table.columns.find((each) => each.name === name)).filter(Boolean);
    return { caption: table.title, columns, rows: table.rows };
  }

  Pages.add({
    name: "overview",
    title: "Overview",
    inNav: true,
    async render(main) {
      const about = Names.about;
      const overview = await Data.get("overview");
      main.append(
        h("h1", "Overview"),
        h("p.muted", about.paths.map(shown).join(", ")),
        about.caption ? h("p.notice", shown(about.caption)) : null,
        ...about.notes.map((note) => h("p.muted", shown(note))),
        facts(about, overview),
        problems(about) || "",
        h("p.muted", `References to ${about.about === "worst" ? "the worst rollout" : shown(about.about)} are found by the detector ${shown(about.detector)}. Every number that is a link leads to the revisions that it counts.`),
      );
      if (typeof Charts !== "undefined") main.append(h("div.charts", Charts.ofOverview(overview, about)));
      for (const table of overview.tables) {
        main.append(h(`section#${table.name}`, h("h2", table.title), Tables.table(narrowed(table, about))));
      }
    },
  });
})();
