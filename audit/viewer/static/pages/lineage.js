"use strict";

// The candidates of a run whose candidates are texts, and where the sentences of one that is chosen came from.
(() => {
  const ROWS = 200;
  const COLUMNS = [
    "candidate", "iteration", "role", "parents", "why", "before", "after", "minibatch_gain", "validation",
  ];
  const BLAMED = ["sentence", "how", "ratio", "candidate", "iteration", "reason", "minibatch_gain", "validation_gain"];
  const score = (node) => node.validation ?? node.after;

  function table(key, caption, columns, rows) {
    const hrefs = ({ candidate, iteration }) => ({
      candidate: candidate === null ? null : Query.address("lineage", key, { candidate }),
      iteration: iteration === null ? null : Query.address("revision", [...key, iteration]),
    });
    return Tables.table({
      caption, columns: columns.map((name) => ({ name })), rows: rows.map((cells) => ({ cells, hrefs: hrefs(cells) })),
    });
  }

  async function blame(key, candidate) {
    const { rows } = await Data.get(`blame/${[...key, candidate].map(encodeURIComponent).join("/")}`);
    return h("section", h("h2", `Candidate ${shown(candidate)}`), rows.length
      ? table(key, "Where its sentences came from", BLAMED, rows) : h("p.muted", "Its text is not in the log."));
  }

  Pages.add({
    name: "lineage",
    title: "Lineage",
    isServedOnly: true,
    async render(main, { parts, query }) {
      const { key, nodes, verdict } = await Data.get(`lineage/${parts.map(encodeURIComponent).join("/")}`);
      const [, env, variant, run] = key;
      const best = d3.greatest(nodes.filter((node) => node.candidate !== null && typeof score(node) === "number"), score);
      const of = (candidate) => Query.address("lineage", key, { candidate });
      const toBest = best ? [" · ", link(`Best candidate: ${shown(best.candidate)}`, of(best.candidate))] : null;
      main.append(
        h("h1", `Lineage · ${Names.value("env", env)} · ${Names.value("variant", variant)} · run ${run}`),
        h("p", link("The run", Query.address("run", key)), toBest),
        ...verdict.map((line) => h("p", shown(line))),
        query.has("candidate") ? await blame(key, query.get("candidate")) : "",
        table(key, "Candidates and proposals", COLUMNS, nodes.slice(0, ROWS)),
        nodes.length > ROWS ? h("p.muted", `… and ${number(nodes.length - ROWS)} more: audit lineage lists them`) : "",
      );
    },
  });
})();
