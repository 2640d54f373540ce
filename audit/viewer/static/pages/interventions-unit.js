"use strict";

// One prompt of an experiment: what each arm showed, and its answers side by side.
const InterventionsUnit = (() => {
  const HEAD = 3; // rows of a column before its answers: the arm, its meaning, what it showed

  const edited = (edit) => `params[${edit.index}] ${number(edit.before)} → ${number(edit.after)}`;

  /** The return as it was printed with a rollout: hidden, its own, or another's. */
  function printed(each) {
    if (each.return === null) return "return hidden";
    const isOwn = each.number === null || each.roles.includes(each.number);
    return `return ${number(each.return)}${isOwn ? "" : `, that of the ${each.number} one`}`;
  }

  function shownItem(each, place, lit) {
    const [role] = each.roles;
    const isCalledSo = each.name.toLowerCase().startsWith(role);
    const truth = isCalledSo ? "" : `; in truth ${role === "other" ? "another rollout" : `the ${role} one`}`;
    return lit(h(`li.${RevisionAnswer.colour(each.roles)}`, h("strong", `${each.name} ${each.rollout}`),
      h("span.muted", ` ${printed(each)}${truth}${each.fresh ? "; on a fresh seed" : ""}`)), [place]);
  }

  const evidence = (items, lit) => h("ol.shown", items.map((each, place) => shownItem(each, place, lit)));

  /** What an answer changed, and what came of it. */
  function outcome(answer) {
    if (answer.error) return h("p.bad", `Unreadable: ${answer.error}`);
    const gain = answer.gain === null ? null : h("p", "Gain ", h(answer.harmful ? "strong.bad" : "strong", number(answer.gain)), answer.harmful ? ", harmful" : "");
    const rest = answer.edits.length - 8;
    const edits = answer.edits.length
      ? h("ul.edits-made", answer.edits.slice(0, 8).map((edit) => h("li", edited(edit))), rest > 0 ? h("li.muted", `… and ${number(rest)} more`) : null)
      : h("p", "Nothing changed.");
    return [edits, gain];
  }

  function card(answer, arm, isShared, lit) {
    const mine = isShared ? lit : RevisionAnswer.lights();
    const label = `${arm.arm}, answer ${answer.replicate}`;
    return h("article", h("h3", `${answer.replicate} of ${arm.replicates}`),
      isShared ? null : evidence(answer.shown, mine), RevisionAnswer.answer(answer, mine, label),
      answer.driver ? h("p", "Justified by ", h("strong", Names.value("driver", answer.driver))) : null, outcome(answer),
      answer.thinking ? h("details", h("summary", "Thinking"), Texts.plain(answer.thinking, `Thinking of ${label}`)) : null);
  }

  /** An arm's column: what it showed, once if always the same, and its answers. */
  function column(arm, rows) {
    const first = arm.answers[0];
    const isShared = arm.answers.every((each) => JSON.stringify(each.shown) === JSON.stringify(first.shown));
    const lit = RevisionAnswer.lights();
    const heading = `arm-${arm.arm}`;
    const element = h("section.arm", { "aria-labelledby": heading }, h("h2", { id: heading }, arm.arm),
      h("p.muted.meaning", `${arm.meaning}${arm.control ? `; compared with ${arm.control}` : ""}`),
      first ? (isShared ? evidence(first.shown, lit) : h("p.muted", "Shown differently in each answer.")) : h("p.muted", "Not answered yet."),
      arm.answers.map((answer) => card(answer, arm, isShared, lit)));
    element.style.gridRow = `span ${rows}`;
    return element;
  }

  /** Which arms are shown: all, or those in the address. */
  function wanted(unit, query) {
    const names = (query.get("arms") || "").split(",").filter((name) => unit.arms.some((arm) => arm.arm === name));
    return names.length ? names : unit.arms.map((arm) => arm.arm);
  }

  function chooser(unit, query, names) {
    const all = unit.arms.map((arm) => arm.arm);
    const go = (chosen) => {
      const isAll = !chosen.length || chosen.length === all.length;
      location.hash = Query.address("interventions", [unit.unit], Query.changed(query, { arms: isAll ? null : chosen.join(",") }));
    };
    const box = (arm) => h("label", { title: arm.meaning }, h("input", {
      type: "checkbox", id: `show-${arm.arm}`, checked: names.includes(arm.arm),
      onchange: (event) => go(all.filter((name) => (name === arm.arm ? event.target.checked : names.includes(name)))),
    }), ` ${arm.arm}`);
    return h("fieldset.arms", h("legend", "Arms"), unit.arms.map(box));
  }

  function walk(unit, query, plan) {
    const step = (place) => (place >= 1 && place <= unit.units ? Query.address("interventions", [place], query) : null);
    const [before, after] = [step(unit.unit - 1), step(unit.unit + 1)];
    for (const [key, to] of [["j", after], ["k", before]]) Pages.onKey(key, () => { if (to) location.hash = to; });
    return h("div.walk", { role: "navigation", "aria-label": "Prompts" },
      before ? link("← previous (k)", before) : h("span.muted", "← previous (k)"),
      h("span", `${number(unit.unit)} of ${number(unit.units)}`),
      after ? link("next (j) →", after) : h("span.muted", "next (j) →"),
      link("the experiment", plan),
      unit.is_recorded ? link("the revision that it is made from", Query.address("revision", unit.key)) : h("span.muted", "its revision is not in the records that are viewed"));
  }

  /** Fill the page. query: that of the address; plan: the address of the experiment. */
  function render(main, unit, query, plan) {
    const [condition, env, variant, run, iteration] = unit.key;
    const names = wanted(unit, query);
    const kept = new URLSearchParams([...query].filter(([name]) => ["plan", "arms"].includes(name)));
    const returns = unit.shown.map((each) => [h(`span.${each.role}`, each.role), ` ${number(each.return)} (#${each.rollout}) `]);
    const arms = unit.arms.filter((arm) => names.includes(arm.arm));
    const rows = HEAD + Math.max(...arms.map((arm) => arm.answers.length));
    main.append(
      h("h1", `Prompt ${unit.unit}: ${Names.value("env", env)} · ${Names.value("variant", variant)} · run ${run} · iteration ${iteration}`),
      h("p.muted", `${shown(condition)} · answers of ${shown(unit.model)}`),
      walk(unit, kept, plan), h("p", "Recorded: ", returns), chooser(unit, kept, names),
      Tables.scrolling(h("div.columns", arms.map((arm) => column(arm, rows))), "Answers by arm"),
    );
    Pages.announce(`Prompt ${unit.unit} of ${unit.units}`);
  }

  return { render };
})();
