"use strict";

// One revision: what was shown beside what was answered, what was changed, and what came of it.
(() => {
  const raw = (value) => (value === null ? "" : String(value));

  function walking(data, parts, query) {
    const selection = Query.selection(query);
    const step = (key) => Query.address("revision", key, selection);
    for (const [name, key] of [["j", data.after], ["k", data.before]]) {
      Pages.onKey(name, () => { if (key) location.hash = step(key); });
    }
    const of = ` of ${number(data.among)}`;
    const place = data.place ? `${number(data.place)}${of}` : `not one${of}`;
    return h("div.walk", { role: "navigation", "aria-label": "Revisions" },
      data.before ? link("← previous (k)", step(data.before)) : h("span.muted", "← previous (k)"),
      h("span", place),
      data.after ? link(data.place ? "next (j) →" : "to the first of them (j) →", step(data.after)) : h("span.muted", "next (j) →"),
      link("in the table", Query.address("revisions", [], selection)),
      link("its run", Query.address("run", parts.slice(0, 4))),
      data.initial.params && !Data.isExported ? link("replay its rollouts", Query.address("replay", parts, selection)) : null,
      Data.isExported ? null : comparing(data.key),
      (data.units || []).map(({ plan, unit }) => link("asked again under changed evidence", Query.address("interventions", [unit], { plan }))));
  }

  /** Remember this revision, or go to it beside the one that is remembered. */
  function comparing(key) {
    const kept = JSON.parse(sessionStorage.getItem("beside") || "null");
    const isOther = kept && JSON.stringify(kept) !== JSON.stringify(key);
    const button = h("button#beside", { type: "button", onclick: () => {
      sessionStorage.setItem("beside", JSON.stringify(key));
      button.textContent = "kept: now open the other one";
    } }, isOther ? "keep this one instead" : "keep to compare");
    return h("span", isOther ? [link(`beside ${shown(kept.join(" "))}`, Query.address("beside", [...kept, ...key])), " "] : null, button);
  }

  function verdicts(row) {
    const names = ["direction", "pattern", "cites", "strict", "permissive", "structure", "severity", "start", "accepted", "restrained"];
    return h("ul.verdicts", names.filter((name) => row[name] !== null).map((name) => {
      const text = typeof row[name] === "number" ? number(row[name]) : Names.value(name, row[name]);
      return h("li", { title: Names.meaning(name) }, h("span.muted", `${Names.column(name)} `),
        name === "severity" ? text : link(text, Query.revisions({ [name]: raw(row[name]) })));
    }));
  }

  function outcome(data) {
    const { row, initial, revised } = data;
    const noise = row.p_no_change === null
      ? "No noise p: the two candidates' single returns are not known, or not comparable."
      : `Noise p ${pValue(row.p_no_change)}: the chance of so low a Δ, or a lower one, had the revision changed nothing.`;
    const direction = { regression: "a regression", improvement: "an improvement", no_change: "no change" }[row.direction];
    return h("section.outcome", h("h2", data.text ? "Scores" : "Returns"), h("div.picture", RevisionPictures.returns(data)), RevisionPictures.legend(data),
      h("p", "Δ ", h(`strong.${row.direction}`, number(row.delta)), `, ${direction}; the revised candidate was ${row.accepted ? "" : "not "}kept.`),
      h("p.muted", noise),
      initial.returns || revised.returns ? single(data) : h("p.muted", "Single returns are not recorded, only their means."));
  }

  /** The returns one by one, beside each other where seeds or examples are the same. */
  function single(data) {
    const { row, initial, revised } = data;
    const isPaired = RevisionPictures.arePaired(data);
    const numbers = d3.range(Math.max(initial.returns?.length || 0, revised.returns?.length || 0));
    const at = (list, index) => list?.[index] ?? null;
    const rows = numbers.slice(0, 500).map((index) => {
      const [before, after] = [at(initial.returns, index), at(revised.returns, index)];
      const name = initial.example_ids ? { example: shown(at(initial.example_ids, index) ?? "") } : { seed: raw(at(initial.seeds, index)) };
      return { cells: { "#": String(index), ...name, role: RevisionPictures.roleOf(row, index).join(", "), before, after,
        ...(isPaired ? { change: after - before } : {}), ...(initial.lengths ? { "steps before": at(initial.lengths, index), "steps after": at(revised.lengths, index) } : {}) } };
    });
    const rest = numbers.length - rows.length;
    return h("details", h("summary", "As a table"), Tables.table({ caption: isPaired ? `Each on the same ${data.text ? "example" : "seed"}` : "Seeds or examples differ, or are not recorded",
      columns: Object.keys(rows[0].cells).map((name) => ({ name })), rows }), rest > 0 ? h("p.muted", `… and ${number(rest)} more`) : null);
  }

  function edits(data) {
    if (data.text) return differences(data);
    if (!data.edits) return h("p.muted", "Parameters are not recorded.");
    const { before, after, changed } = data.edits;
    const table = (caption, indices) => Tables.table({ caption, columns: ["parameter", "before", "after", "change"].map((name) => ({ name })),
      rows: indices.map((index) => ({ cells: { parameter: `params[${index}]`, before: before[index], after: after[index], change: after[index] - before[index] } })) });
    const summary = `${number(changed.length)} of ${number(before.length)} parameters changed`;
    return [
      RevisionPictures.grid(data.row.env, data.edits) || h("div.picture", RevisionPictures.parameters(data.edits)),
      changed.length ? table(summary, changed.slice(0, 20)) : h("p", "No parameter changed."),
      changed.length > 20 ? h("p.muted", `… and ${number(changed.length - 20)} more`) : null,
      h("details", h("summary", `All ${number(before.length)} parameters`), table("Parameters", d3.range(Math.min(before.length, 2000)))),
    ];
  }

  const TAGS = { old: "del", new: "ins" };

  function differences(data) {
    if (!data.differences) return h("p.muted", "A text is not recorded, so there is no difference to show.");
    const same = data.differences.filter((each) => each.state === "same");
    const others = data.differences.filter((each) => each.state !== "same");
    const text = (each) => Texts.long(each.pieces, each.name, (piece) => (TAGS[piece.kind] ? h(TAGS[piece.kind], piece.text) : piece.text));
    return [
      others.length ? null : h("p", "No word changed."),
      others.map((each) => [h("h3", `${each.name}${each.state === "changed" ? "" : ` (${each.state})`}`), text(each)]),
      same.map((each) => h("details", h("summary", `${each.name} (not changed)`), text(each))),
    ];
  }

  /** What judges, coders and the simulated critic's own record state of the answer. */
  function others(data) {
    const verdict = (who, what, sentence, note) => h("li", h("strong", shown(who)), `: ${shown(what)}`,
      sentence ? [", from ", h("q", shown(sentence))] : null, note ? h("span.muted", ` (${shown(note)})`) : null);
    const verdicts = [
      ...data.judgements.map((each) => verdict(`judge ${each.model}`, each.driver ?? each.category ?? each.error ?? "no verdict", each.sentence, each.sentence && !each.quoted ? "not in the answer" : "")),
      ...(data.labels || []).map((each) => verdict(`coder ${each.coder}`, Object.entries(each.codes).map(([name, code]) => `${name} ${code}`).join(", "), null, each.note)),
    ];
    const truth = data.truth;
    if (data.labels === null) verdicts.push(h("li.muted", "Coders' labels are shown when all of them are done, since they code blind."));
    if (!verdicts.length && !truth) return h("p.muted", "No judge's verdict, no coder's label and no truth is known of this answer.");
    const critic = truth && `The simulated critic (${truth.personality}) made the change for: ${truth.driver}; it names ${truth.mentioned || "no rollout"}${truth.discounts_worst ? " and sets the worst one aside" : ""}.`;
    return h("section", h("h2", "Judges, coders, truth"), critic ? h("p", shown(critic)) : null, verdicts.length ? h("ul", verdicts) : null);
  }

  function prompt(data) {
    if (data.prompt) return h("details#prompt", h("summary", "The exact prompt"), Texts.plain(data.prompt, "Prompt"));
    if (data.prompt_problem) return h("p.muted", `The exact prompt cannot be read: ${data.prompt_problem}`);
    return h("p.muted", `The exact prompt is not recorded beside this revision${Data.isExported ? ", or was left out of this folder" : ""}.`);
  }

  /** Marks what was searched for, where the browser can without changing the text: a phrase within one piece of it. */
  function highlight(element, query) {
    if (!globalThis.Highlight) return;
    const terms = [...(query.get("q") || "").matchAll(/(-?)(?:"([^"]*)"?|(\S+))/g)]
      .flatMap(([, minus, phrase, word]) => (minus ? [] : [(phrase || word || "").toLowerCase()])).filter(Boolean);
    const ranges = [];
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
      const text = node.data.toLowerCase();
      for (const term of text.length === node.data.length ? terms : []) {
        for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) {
          ranges.push(new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + term.length }));
        }
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  }

  Pages.add({
    name: "revision",
    title: "Revision",
    async render(main, { parts, query }) {
      const key = parts.map(encodeURIComponent).join("/");
      Data.forget("mark/"); // another viewer may have marked it since
      const [data, mark] = await Promise.all([
        Data.get(`revision/${key}`, Query.selection(query)),
        Data.isExported ? null : Data.get(`mark/${key}`),
      ]);
      const row = data.row;
      const [given, answered] = RevisionAnswer.sides(data);
      main.append(
        h("h1", `${Names.value("env", row.env)} · ${Names.value("variant", row.variant)} · run ${row.run} · iteration ${row.iteration}`),
        h("p.muted", shown(row.condition), data.model ? ` · ${data.model}` : " · model not recorded"),
        walking(data, parts, query), mark ? Marks.element(data.key, mark) : "", verdicts(row),
        h("p", h("span.muted", "Rule of the pattern: "), data.reason.replace(/(?<![\w.])-(?=\d)/g, "−")),
        h("div.sides", h("div", given, outcome(data)), h("div", answered, h("section.edits", h("h2", data.text ? "What became of the text" : "Parameters"), edits(data)))),
        h("div.beside", others(data), prompt(data), row.file ? h("p.muted", `Recorded in ${shown(row.file)}`) : null),
      );
      highlight(answered, query);
      Pages.announce(`Revision ${data.place ? `${data.place} of ${data.among}` : ""}`);
    },
  });
})();
