"use strict";

// The worst, the median and the best rollout of a revision, run again under the old and the new policy on the same
// seed: each component of the observation over time, and the steps as tables.
(() => {
  const POLICIES = { old: ["old policy", "var(--neutral)"], new: ["new policy", "var(--accent)"] };
  const ROWS = 1000; // of a table

  function outcome(policy) {
    if (policy.why) return policy.why;
    const recorded = policy.agrees ? "exactly as recorded" : policy.difference;
    const agreement = policy.agrees === null ? "not recorded on this seed" : recorded;
    return `return ${number(policy.return)}, ${policy.ended} after ${plural(policy.length, "step")}, ${agreement}`;
  }

  /** Both policies in a panel for each component of the observation. */
  function curves(replay, rollout, names) {
    const width = Charts.width(4, 240);
    return replay.observation_names.map((component, place) => {
      const points = names.flatMap((name) => rollout[name].observations.map((each, step) => (
        { name, step, value: [each].flat()[place] })));
      const title = `${rollout.label} rollout: ${component} over time`;
      return Charts.panel(shown(component), Charts.lazily(120, () => Charts.plot(title, {
        width, height: 120, marginLeft: 46, marginRight: 8, marginTop: 6, marginBottom: 34, color: { type: "identity" },
        x: { label: "step", ticks: 4, tickFormat: Charts.whole }, y: { label: null, ticks: 3, grid: true },
        marks: [Plot.line(points, { x: "step", y: "value", z: "name", stroke: (each) => POLICIES[each.name][1] })],
      })));
    });
  }

  /** A row for each step: what is observed, what is done, and the reward. */
  function steps(replay, policy, caption) {
    const actions = replay.discrete ? ["action"] : replay.action_names;
    const actionOf = (value) => (replay.discrete && replay.action_names.length ? replay.action_names[value] : value);
    const rows = policy.observations.slice(0, ROWS).map((observed, step) => {
      const isLast = step === policy.length;
      const done = isLast
        ? actions.map((_, place) => (place ? "" : policy.ended)) : [policy.actions[step]].flat().map(actionOf);
      return [step, observed, done, isLast ? "" : policy.rewards[step]].flat();
    });
    const texts = rows[0].map((_, place) => alike(rows.map((row) => [place, row[place]])));
    const headings = ["step", ...replay.observation_names, ...actions, "reward"]
      .map((name) => h("th.number", { scope: "col" }, shown(name)));
    const lines = rows.map((row) => h("tr", row.map((value, place) => h("td.number", texts[place](place, value)))));
    const left = policy.length + 1 - rows.length;
    const table = h("table", h("caption", caption), h("thead", h("tr", headings)), h("tbody", lines));
    return [Tables.scrolling(table, caption), left ? h("p.muted", `… and ${number(left)} more`) : ""];
  }

  function section(replay, rollout) {
    const names = Object.keys(POLICIES).filter((name) => !rollout[name].why);
    const outcomes = Object.entries(POLICIES)
      .map(([name, [title]]) => h("p", h("strong", title), `: ${shown(outcome(rollout[name]))}`));
    const tables = names.map((name) => h("details", {
      ontoggle: ({ target }) => {
        const caption = `${rollout.label} rollout, ${POLICIES[name][0]}`;
        if (target.childNodes.length === 1) target.append(...steps(replay, rollout[name], caption));
      },
    }, h("summary", `Steps under the ${POLICIES[name][0]}`)));
    return h("section", h("h2", `Rollout ${rollout.place}, ${rollout.label}`), h("p.muted", `seed ${rollout.seed}`),
      outcomes, h("div.panels", curves(replay, rollout, names)), tables);
  }

  Pages.add({
    name: "replay",
    title: "Replay",
    isServedOnly: true,
    async render(main, { parts, query }) {
      const [condition, env, variant, run, iteration] = parts;
      const names = [Names.value("env", env), Names.value("variant", variant), `run ${shown(run)}`];
      const address = Query.address("revision", parts, query);
      const revision = link([...names, `iteration ${shown(iteration)}`].join(" · "), address);
      main.append(h("h1", "Replay"), h("p", revision, h("span.muted", ` ${shown(condition)}`)));
      const replay = await Data.get(`replay/${parts.map(encodeURIComponent).join("/")}`);
      if (replay.why) {
        main.append(h("p", shown(replay.why)));
        return;
      }
      main.append(h("p", replay.same_seeds ? "Both policies were recorded on these seeds."
        : "The old policy was recorded on these seeds. The new one was recorded on others, and runs here on these."),
      Charts.legend(Object.values(POLICIES).map(([title, colour]) => [colour, title])),
      ...replay.rollouts.map((rollout) => section(replay, rollout)));
    },
  });
})();
