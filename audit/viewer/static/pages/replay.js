"use strict";

// The worst, the median and the best rollout of a revision, under the old and the new policy on the same seed.
(() => {
  const POLICIES = { old: "old policy", new: "new policy" };
  const SPEEDS = [1, 5, 15, 30, 60, 120];
  const WINDOW = 5; // rows of the table before and after the step that is shown

  // The numbers of a column, with their decimal points below each other.
  const decimal = (values) => {
    const isWhole = values.every((value) => value === null || Number.isInteger(value));
    return (value) => (value === null ? "–" : isWhole ? String(value) : value.toFixed(5));
  };

  function outcome(policy) {
    const steps = policy.length === 1 ? "1 step" : `${policy.length} steps`;
    return `return ${number(policy.return)}, ${policy.ended} after ${steps}`;
  }

  function agreement(policy) {
    if (policy.agrees === null) return "not recorded on this seed";
    return policy.agrees ? "exactly as recorded" : policy.difference;
  }

  const returns = ({ old, new: revised }) => (old.why || revised.why ? "" : `, return ${number(old.return)} → ${number(revised.return)}`);

  // One policy's side of a rollout: its picture, its outcome, and where it is.
  function scene(replay, rollout, name) {
    const policy = rollout[name];
    if (policy.why) return { node: h("figure.replay-scene", h("figcaption", h("strong", POLICIES[name])), h("p.replay-why", shown(policy.why))), policy: null };
    const label = `${rollout.label} rollout, ${POLICIES[name]}`;
    const drawing = ReplayDrawings.draw(replay, policy, `${label}, drawn: ${outcome(policy)}`);
    const where = h("span.replay-where");
    const node = h("figure.replay-scene",
      h("div.replay-stage", drawing.node),
      h("figcaption", h("strong", POLICIES[name]), ` ${outcome(policy)}`, h("br"), h("span.replay-agreement", shown(agreement(policy))), h("br"), where));
    const show = (step) => {
      const state = Math.min(step, policy.length);
      drawing.show(state);
      node.classList.toggle("replay-over", state === policy.length);
      where.textContent = state === policy.length ? `${policy.ended} at step ${state}` : `step ${state}`;
    };
    return { node, show, policy };
  }

  // The steps around the one that is shown: state, action, reward.
  function table(replay, policy, caption) {
    const actions = replay.discrete ? ["action"] : replay.action_names;
    const names = ["step", ...replay.observation_names, ...actions, "reward"];
    const body = h("tbody");
    const node = h("div.replay-steps.scrolls", { tabindex: "0", role: "region", "aria-label": caption },
      h("table", h("caption", caption), h("thead", h("tr", ...names.map((name) => h("th", { scope: "col" }, shown(name))))), body));
    const formats = (rows) => [rows[0]].flat().map((_, place) => decimal(rows.map((each) => [each].flat()[place])));
    const [ofState, ofAction, ofReward] = [policy.observations, policy.actions, policy.rewards].map(formats);
    const written = (value, format) => [value].flat().map((each, place) => format[place](each));
    const actionOf = (value) => (replay.discrete && replay.action_names.length ? [shown(replay.action_names[value])] : written(value, ofAction));
    const row = (state, current) => {
      const observed = written(policy.observations[state], ofState);
      const rest = state < policy.length
        ? [...actionOf(policy.actions[state]), ...written(policy.rewards[state], ofReward)]
        : [...actions.map((_, place) => (place ? "" : policy.ended)), ""];
      const cells = [...observed, ...rest].map((text) => h("td", text));
      return h(current ? "tr.replay-now" : "tr", current ? { "aria-current": "step" } : {}, h("th", { scope: "row" }, String(state)), ...cells);
    };
    const show = (step) => {
      const state = Math.min(step, policy.length);
      const first = Math.max(0, Math.min(state - WINDOW, policy.length - 2 * WINDOW));
      const last = Math.min(policy.length, first + 2 * WINDOW);
      body.replaceChildren(...Array.from({ length: last - first + 1 }, (_, place) => row(first + place, first + place === state)));
    };
    return { node, show };
  }

  // Play, pause, step, time and speed. Calls `show(step)` whenever the step changes.
  function controls(most, show) {
    const slower = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let step = 0, timer = null, last = 0;
    const play = h("button.replay-play", { type: "button", title: "play or pause (p)", onclick: () => toggle() }, "Play");
    const slider = h("input.replay-time", { type: "range", min: "0", max: String(most), step: "1", "aria-label": "step", oninput: () => go(Number(slider.value)) });
    const where = h("output.replay-step");
    const speed = h("select", { "aria-label": "speed" }, ...SPEEDS.map((each) => h("option", { value: String(each) }, each === 1 ? "1 step a second" : `${each} steps a second`)));
    slider.value = "0";
    speed.value = slower ? "1" : "30";
    const go = (wanted) => {
      step = Math.max(0, Math.min(most, wanted));
      slider.value = String(step);
      slider.setAttribute("aria-valuetext", `step ${step} of ${most}`);
      where.textContent = `step ${step} of ${most}`;
      show(step);
    };
    const stop = () => {
      if (timer !== null) cancelAnimationFrame(timer);
      timer = null;
      play.textContent = "Play";
    };
    const advance = (now) => {
      const passed = Math.floor(((now - last) * Number(speed.value)) / 1000);
      if (passed > 0) {
        last = now;
        go(step + passed);
      }
      if (step >= most) stop();
      else timer = requestAnimationFrame(advance);
    };
    const start = () => {
      if (step >= most) go(0);
      play.textContent = "Pause";
      last = performance.now();
      timer = requestAnimationFrame(advance);
    };
    const by = (distance) => { stop(); go(step + distance); };
    const node = h("div.replay-controls", { role: "group", "aria-label": "time" }, play,
      h("button", { type: "button", onclick: () => by(-1), "aria-label": "one step back", title: "one step back (,)" }, "−1"),
      slider,
      h("button", { type: "button", onclick: () => by(1), "aria-label": "one step on", title: "one step on (.)" }, "+1"),
      where, speed);
    const toggle = () => (timer === null ? start() : stop());
    return { node, by, stop, toggle, again: () => go(step) };
  }

  function choice(name, legend, options, chosen, onchange) {
    const inputs = options.map(([value, text]) => {
      const input = h("input", { type: "radio", name, value, onchange: () => onchange(value) });
      input.checked = value === chosen;
      return h("label", input, ` ${text}`);
    });
    return h("fieldset.replay-choice", h("legend", legend), ...inputs);
  }

  const seeds = (replay) => replay.same_seeds
    ? "Both policies were recorded on these seeds."
    : "The old policy was recorded on these seeds; the new one was recorded on others and runs here on the same as the old.";

  async function render(main, route) {
    const title = h("h1", "Replay");
    const status = h("p.replay-status", { role: "status" });
    const [condition, env, variant, run, iteration] = route.parts;
    const revision = `${Names.value("env", env)} · ${Names.value("variant", variant)} · run ${shown(run)} · iteration ${shown(iteration)}`;
    main.append(title, h("p", link(revision, Query.address("revision", route.parts, route.query)), h("span.muted", ` ${shown(condition)}`)), status);
    const replay = await Data.get(`replay/${route.parts.map(encodeURIComponent).join("/")}`);
    if (replay.why) {
      status.textContent = shown(replay.why);
      status.classList.add("replay-why");
      return undefined;
    }
    return page(main, replay);
  }

  function page(main, replay) {
    const scenes = [];
    const panels = replay.rollouts.map((rollout) => {
      const sides = Object.keys(POLICIES).map((name) => scene(replay, rollout, name));
      scenes.push(...sides.filter((each) => each.policy));
      return h("section.replay-rollout",
        h("h2", `${rollout.label} rollout`), h("p.replay-seed", `rollout ${rollout.place}, seed ${rollout.seed}${returns(rollout)}`),
        h("div.replay-pair", ...sides.map((each) => each.node)));
    });
    let tables = [];
    const place = h("div.replay-tables");
    const most = Math.max(0, ...scenes.map((each) => each.policy.length));
    const time = controls(most, (step) => {
      for (const each of scenes) each.show(step);
      for (const each of tables) each.show(step);
    });
    const choose = (wanted) => {
      const rollout = replay.rollouts[Number(wanted)];
      tables = Object.keys(POLICIES).filter((name) => !rollout[name].why)
        .map((name) => table(replay, rollout[name], `${rollout.label} rollout, ${POLICIES[name]}`));
      place.replaceChildren(...tables.map((each) => each.node));
      time.again();
    };
    const rollouts = choice("replay-rollout", "Steps of", replay.rollouts.map((each, index) => [String(index), `${each.label} rollout`]), "0", choose);
    main.append(
      h("p.replay-note", seeds(replay), h("br"), `Drawn: ${ReplayDrawings.about(replay)}.`),
      time.node, h("div.replay-rollouts", ...panels), rollouts, place);
    choose("0");
    for (const [key, action] of [["p", time.toggle], [",", () => time.by(-1)], [".", () => time.by(1)]]) Pages.onKey(key, action);
    return time.stop;
  }

  Pages.add({ name: "replay", title: "Replay", isServedOnly: true, render });
})();
