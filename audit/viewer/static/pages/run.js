"use strict";

// A run: the return of each iteration, the best so far, and its revisions. And the list of all runs.
(() => {
  const FACTS = [
    ["backend", "backend"], ["model", "model"], ["seed", "seed"], ["rollouts", "rollouts per evaluation"], ["tau_c", "τ_c"],
    ["optimum", "optimum"], ["candidates", "candidates"], ["policy", "policy"], ["thresholds_origin", "thresholds of edit patterns"], ["source", "records"],
  ];

  /** What calls of the model took, as texts by what they are. */
  function spent(calls) {
    if (!calls) return [["calls of the model", "not recorded"]];
    const tokens = (value) => (value === null ? "not recorded" : number(value));
    return [
      ["calls of the model", `${number(calls.calls)}, ${plural(calls.discarded, "answer")} unreadable`],
      ["seconds of calls", calls.seconds === null ? "not recorded" : number(calls.seconds)],
      ["tokens of prompts", tokens(calls.prompt_tokens)], ["tokens of answers", tokens(calls.completion_tokens)],
    ];
  }

  function facts({ facts: known, total, skipped, calls, revisions_total: revisions }) {
    const planned = known.iterations_planned;
    const rows = [
      ["iterations", `${number(total)}${planned === null ? "" : ` of ${number(planned)}`}${skipped.length ? `, ${number(skipped.length)} without a proposal` : ""}`],
      ["revisions", number(revisions)], ...spent(calls),
      ...FACTS.map(([name, text]) => [text, known[name] === null || known[name] === undefined ? (["tau_c", "optimum"].includes(name) ? "none" : "not recorded") : name === "seed" ? String(known[name]) : number(known[name])]),
    ];
    return h("dl.runfacts", rows.map(([name, value]) => h("div", h("dt", Names.worded(name)), h("dd", value))));
  }

  function setUp({ thresholds, description }) {
    const numbers = Object.entries(thresholds).filter(([name, value]) => typeof value === "number" && name !== "floor");
    const table = (caption, entries) => Tables.table({ caption, columns: [{ name: "name" }, { name: "value" }],
      rows: entries.map(([name, value]) => ({ cells: { name, value } })) });
    const rest = Object.entries(description);
    return h("details", h("summary", "Options and thresholds"),
      numbers.length ? table("Thresholds of edit patterns", numbers.map(([name, value]) => [Names.column(name), value])) : h("p.muted", "No thresholds."),
      rest.length ? table("As run.json states", rest) : h("p.muted", "Options are not recorded."));
  }

  /** The iterations, each with its revision if it has one. */
  function joined({ key, iterations, revisions }) {
    const byIteration = new Map(revisions.map((each) => [each.iteration, each]));
    return iterations.map((each) => {
      const revision = byIteration.get(each.iteration) || null;
      return { ...each, revision, href: revision && Query.address("revision", [...key, each.iteration]) };
    });
  }

  function curve(data, steps) {
    const revised = steps.filter((each) => each.revision);
    const described = (each) => `Iteration ${each.iteration}: ${number(each.revision.r0)} → ${number(each.revision.r1)}, ${Names.value("direction", each.revision.direction)}`;
    const ofDirection = (direction, shade) => [
      Plot.link(revised.filter((each) => each.revision.direction === direction), { x: "iteration", y1: (each) => each.revision.r0, y2: (each) => each.revision.r1, stroke: `var(${shade})`, strokeOpacity: 0.7 }),
      Plot.dot(revised.filter((each) => each.revision.direction === direction), { x: "iteration", y: (each) => each.revision.r1, r: 3.5, fill: `var(${shade})`, href: "href", title: described }),
    ];
    const without = steps.filter((each) => !each.revision);
    const last = steps[steps.length - 1];
    const chart = Charts.plot(`Returns of ${steps.length} iterations, the best ${number(last.best_so_far)}; the table below has them all`, {
      width: Charts.width(1, 0), height: 320, marginLeft: 60, marginBottom: 40,
      x: { label: "iteration", tickFormat: Charts.whole }, y: { label: data.facts.candidates === "text" ? "mean score" : "mean return", grid: true },
      marks: [
        Plot.line(steps, { x: "iteration", y: "best_so_far", curve: "step-after", stroke: "var(--muted)", strokeWidth: 1.5 }),
        without.length > 200 ? Plot.line(without, { x: "iteration", y: "kept_return", stroke: "var(--neutral)", strokeOpacity: 0.6 })
          : Plot.dot(without, { x: "iteration", y: "kept_return", r: 2.5, fill: "var(--neutral)", title: (each) => `Iteration ${each.iteration}: ${number(each.kept_return)}` }),
        ofDirection("no_change", "--neutral"), ofDirection("improvement", "--good"), ofDirection("regression", "--bad"),
      ],
    });
    const legend = revised.length
      ? ["A dot is a revised candidate, the line to it begins at the initial one: ", h("strong.regression", "regressions"), ", ", h("strong.improvement", "improvements"), ", no change. Click one to read it. The grey line in steps is the best so far."]
      : "The candidate that each iteration keeps, and, as a line in steps, the best so far.";
    return h("figure.chart.curve", chart, h("figcaption.muted", legend));
  }

  function table(data, steps) {
    const MOST = 1000;
    const columns = ["iteration", "kept_return", "best_so_far", "rollouts_spent",
      ...(data.revisions.length ? ["r0", "r1", "delta", "direction", "p_no_change", "pattern", "cites", "strict", "permissive"] : [])];
    const rows = steps.slice(0, MOST).map((each) => ({ cells: { ...each.revision, ...each }, hrefs: { iteration: each.href } }));
    const rest = steps.length - rows.length;
    return [Tables.table({ caption: "Iterations", columns: columns.map((name) => ({ name, meaning: Names.meaning(name) })), rows }),
      rest > 0 ? h("p.muted", `… and ${number(rest)} more, in the curve`) : null];
  }

  Pages.add({
    name: "run",
    title: "Run",
    async render(main, { parts }) {
      const data = await Data.get(`run/${parts.map(encodeURIComponent).join("/")}`);
      const [condition, env, variant, run] = data.key;
      const steps = joined(data);
      const filter = { condition, env, variant, run: String(run) };
      const part = data.every > 1 ? `One in ${number(data.every)} of ${number(data.total)} iterations is shown, without its revision. ` : "";
      main.append(h("h1", `${Names.value("env", env)} · ${Names.value("variant", variant)} · run ${run}`), h("p.muted", shown(condition)), facts(data), setUp(data),
        h("p", part, data.revisions_total ? link(`Its ${number(data.revisions_total)} revisions in the table`, Query.revisions(filter))
          : "No candidate of this run was revised: there are no revisions to read."),
        data.facts.candidates === "text" && !Data.isExported
          ? h("p", link("Its candidates, and where their texts came from", Query.address("lineage", data.key))) : "",
        h("div", steps.length ? [curve(data, steps), table(data, steps)] : h("p", "No iteration is finished.")));
    },
  });

  Pages.add({
    name: "runs",
    title: "Runs",
    inNav: true,
    async render(main) {
      const data = await Data.get("runs");
      const MOST = 2000;
      const rest = data.rows.length - MOST;
      const rows = data.rows.slice(0, MOST).map((cells) => ({ cells, hrefs: { run: Query.address("run", ["condition", "env", "variant", "run"].map((name) => cells[name])) } }));
      const columns = data.columns.map((name) => ({ name }));
      main.append(h("h1", "Runs"), Tables.table({ caption: plural(data.rows.length, "run"), columns, rows }),
        rest > 0 ? h("p.muted", `… and ${number(rest)} more: give audit view fewer conditions, tasks or methods to see them`) : "");
    },
  });
})();
