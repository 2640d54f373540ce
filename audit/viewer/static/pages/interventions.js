"use strict";

// An experiment of audit intervene: its plan, whether it can be trusted, and its effects. One prompt is in
// interventions-unit.js.
(() => {
  const ESSENTIAL = ["name", "outcome", "env", "arm", "control", "estimate", "low", "high", "p", "p_adjusted", "verdict", "units", "runs"];
  const UNITS = {
    share: "share of revisions", edits: "of the distance between two answers to one prompt", text: "share of answers", direction: "closeness of edits",
    gain: "in units of the return", harmful: "share of answers", size: "size of edits",
  };
  const LABELS = 190;

  const path = (...parts) => ["interventions", ...parts].join("/");
  const address = (plan, unit = null) => Query.address("interventions", unit === null ? [] : [unit], { plan });
  const count = (amount, noun) => `${number(amount)} ${noun}${amount === 1 ? "" : "s"}`;

  /** The number of the plan that an address names; the first that can be read if it names none. */
  function chosen(query, plans) {
    const given = query.get("plan");
    const first = plans.find((each) => !each.problem) || plans[0];
    return given === null ? first?.number : Number(given);
  }

  function chooser(plans, current) {
    if (plans.length < 2) return null;
    const name = (each) => `${each.file.split(/[\\/]/).at(-1)}: ${each.problem ? "cannot be read" : `${each.model}, ${count(each.units, "prompt")}`}`;
    return h("p", h("label", "Plan ", h("select#plan", { onchange: (event) => { location.hash = address(event.target.value); } },
      plans.map((each) => h("option", { value: String(each.number), selected: each.number === current }, shown(name(each)))))));
  }

  function facts(plan) {
    const given = [
      ["model", `${shown(plan.model)} (${shown(plan.backend)})`], ["prompts", number(plan.units)], ["arms", number(plan.arms.length)],
      ["answers", `${number(plan.answered)} of ${number(plan.calls)}`], ["plan", h("span.mono", { title: `SHA-256 ${plan.sha256}` }, plan.sha256.slice(0, 12))],
    ];
    return h("dl.facts", given.map(([name, value]) => h("div", h("dt", name), h("dd", value))));
  }

  function table(caption, names, rows) {
    return Tables.table({ caption, columns: names.map((name) => (typeof name === "string" ? { name } : name)), rows });
  }

  function arms(plan) {
    const names = ["arm", "meaning", "control", "planned", "answered", "unreadable"];
    return h("section", h("h2", "Arms"), table("How each prompt is asked", names, plan.arms.map((cells) => ({ cells: { ...cells, control: cells.control ?? "" } }))));
  }

  function units(plan) {
    const names = ["unit", "condition", "env", "variant", "run", "iteration", "worst", "median", "best", "answered"];
    const wanted = names.filter((name) => name !== "condition" || new Set(plan.rows.map((row) => row.condition)).size > 1);
    return h("section", h("h2", "Prompts"), h("p.muted", `Each is a revision's prompt, asked ${count(plan.planned, "time")} over all arms; worst, median and best are the returns that it shows.`),
      table(count(plan.units, "prompt"), wanted, plan.rows.map((cells) => ({ cells, hrefs: { unit: address(plan.number, cells.unit) } }))));
  }

  const hasProblem = (line) => line.startsWith("PROBLEM");

  function sentences({ title, lines }) {
    return h("section", h("h2", shown(title.replace(/[:.]$/, ""))), h("ul.sentences", lines.map((line) => h(hasProblem(line) ? "li.bad" : "li", shown(line)))));
  }

  const colourOf = (effect) => ({ "found": "var(--accent)", "moves it": "var(--accent)", "moves it away": "var(--accent)", "cannot be told": "var(--driver)", "not beyond placebo": "var(--driver)" })[effect.verdict] || "var(--neutral)";
  const against = (effect) => (effect.control === null ? `in ${effect.arm}` : `${effect.arm} − ${effect.control}`);

  /** Effects on one outcome, in its units: estimates with intervals. */
  function panel(outcome, env, effects) {
    const rows = effects.map((effect, place) => ({ ...effect, place: String(place), label: `${effect.name}, ${against(effect)}` }));
    const labels = new Map(rows.map((row) => [row.place, row.label]));
    const width = Charts.width(1, 0);
    const chart = Charts.plot(`Effects on ${outcome}: ${rows.map((row) => `${row.label} ${number(row.estimate)}, ${row.verdict}`).join("; ")}`, {
      width, height: 46 + 24 * rows.length, marginLeft: LABELS, marginRight: 12, marginTop: 6, marginBottom: 36,
      x: { label: UNITS[outcome] || null, grid: true, ticks: width / 100, nice: true },
      y: { label: null, domain: rows.map((row) => row.place), tickFormat: (place) => labels.get(place), tickSize: 0 },
      color: { type: "identity" },
      marks: [
        Plot.ruleX([0], { stroke: "currentColor" }),
        Plot.ruleY(rows.filter((row) => row.low !== null), { y: "place", x1: "low", x2: "high", stroke: colourOf, strokeWidth: 2 }),
        Plot.dot(rows, { x: "estimate", y: "place", r: 4.5, stroke: colourOf, strokeWidth: 2, fill: (row) => (row.primary ? colourOf(row) : "var(--paper)"), title: (row) => row.sentence }),
      ],
    });
    return Charts.panel(`${outcome}${env ? `, ${Names.value("env", env)}` : ""}`, chart);
  }

  function charts(effects) {
    const known = effects.filter((effect) => effect.estimate !== null);
    return Charts.grouped(known, ["outcome", "env"]).map(([[outcome, env], of]) => panel(outcome, env, of));
  }

  function effects(report) {
    const names = ESSENTIAL.filter((name) => report.effects.some((row) => row[name] !== null));
    const columns = names.map((name) => report.columns.find((each) => each.name === name));
    const rows = report.effects.map((row) => ({ cells: { ...row, control: row.control ?? "" } }));
    const legend = Charts.legend([
      ["var(--accent)", "found; moves it, or away"], ["var(--driver)", "not beyond placebo; cannot be told"], ["var(--neutral)", "not found, not judged; does not move it; goes with another"],
      ["var(--neutral)", "hollow: not a primary hypothesis", true],
    ]);
    return h("section", h("h2", "Effects"),
      h("figure.chart#effects", h("figcaption", h("h3", "Estimates and 95% intervals"),
        h("p.muted", "Intervals allow for dependence within runs. Not found is not absent, and what cannot be told may be there.")),
      legend, h("div.panels", charts(report.effects))),
      table("All effects", columns, rows));
  }

  function reported(report) {
    return [
      report.setting.map((line) => h("p.muted", shown(line))),
      report.sections.map(sentences),
      effects(report),
    ].flat();
  }

  /** The report, whose tests may take long: the page is there before it. */
  function later(plan) {
    const place = h("div#report", { "aria-busy": "true" }, h("p.muted", "Computing the tests …"));
    const finish = (nodes, line) => {
      place.replaceChildren(...nodes);
      place.removeAttribute("aria-busy");
      if (place.isConnected) Pages.announce(line);
    };
    Data.get(path(plan.number, "report")).then(
      (report) => finish(reported(report), "The report is there"),
      (error) => finish([h("p.error", shown(error.message))], "There is no report"),
    );
    return place;
  }

  function overview(main, plan) {
    const isFirst = !plan.answered;
    main.append(
      facts(plan),
      plan.caption ? h("p.notice", shown(plan.caption)) : "",
      ...plan.notes.map((line) => h("p.muted", shown(line))),
      ...(plan.unfinished
        ? [h("p.notice", shown(plan.unfinished))]
        : [later(plan)]),
      arms(plan),
      units(plan),
      h("details#plan-in-full", { open: isFirst }, h("summary", "The plan"),
        h("ul.plan-lines", plan.description.map((line) => h("li", shown(line)))),
        h("p.muted", `Preset ${shown(plan.preset)}; ${Object.entries(plan.settings).map(([name, value]) => `${name.replace(/_/g, " ")} ${value}`).map(shown).join(", ")}.`),
        h("p.muted", `SHA-256 ${plan.sha256}`)),
    );
  }

  Pages.add({
    name: "interventions",
    title: "Interventions",
    inNav: true,
    isServedOnly: true,
    isThere: (about) => about.plans > 0,
    async render(main, { parts, query }) {
      if (!parts.length) Data.forget("interventions"); // answers may have come meanwhile
      const { plans } = await Data.get("interventions");
      if (!plans.length) throw new Error("no plan of an experiment was given; name one with audit view --plan FILE");
      const number = chosen(query, plans);
      if (parts.length) {
        const unit = await Data.get(path(number, "unit", encodeURIComponent(parts[0])));
        InterventionsUnit.render(main, unit, query, address(number));
        return;
      }
      main.append(h("h1", "Interventions"));
      const choice = chooser(plans, number);
      if (choice) main.append(choice);
      const mine = plans.find((each) => each.number === number);
      if (mine) main.append(h("p.muted", shown(mine.file)));
      if (mine?.problem) main.append(h("p.error", shown(mine.problem)));
      else overview(main, await Data.get(path(number)));
    },
  });
})();
