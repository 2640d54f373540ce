"use strict";

// One revision: what was shown beside what was answered, what was changed, and what came of it.
(() => {
  const ROLES = ["worst", "median", "best"];

  function classOf(mention) {
    const role = ROLES.find((each) => mention.labels.includes(each));
    return [role || (mention.labels.length || mention.rollouts.length ? "other" : ""), mention.negated ? "negated" : ""].filter(Boolean);
  }

  function answer(data) {
    return h("div.answer", { tabindex: "0", role: "region", "aria-label": "Answer" }, data.answer.map((piece) => {
      let node = document.createTextNode(piece.text);
      if (piece.mention) {
        const found = piece.mention;
        node = h("mark", { class: classOf(found).join(" "), title: `${found.meaning}; found by ${found.kind}${found.negated ? ", negated" : ""}${found.discounted ? ", discounted" : ""}` }, node);
      }
      return piece.driver ? h("span.justifies", { title: `driver: ${data.driver.name}` }, node) : node;
    }));
  }

  function verdicts(row) {
    const names = ["direction", "pattern", "cites", "strict", "permissive", "structure", "severity", "start", "accepted", "restrained"];
    return h("ul.verdicts", names.filter((name) => row[name] !== null).map((name) =>
      h("li", h("span.muted", `${Names.column(name)} `), typeof row[name] === "number" ? number(row[name]) : Names.value(name, row[name]))));
  }

  function edits(data) {
    if (data.text) {
      return data.differences.map((each) => h("section", h("h3", `${each.name}${each.state === "changed" ? "" : ` (${each.state})`}`),
        h("div.answer", each.pieces.map((piece) => (piece.kind === "old" ? h("del", piece.text) : piece.kind === "new" ? h("ins", piece.text) : piece.text)))));
    }
    if (!data.edits) return h("p.muted", "Parameters are not recorded.");
    const rows = data.edits.map((each) => ({ cells: { parameter: each.index, before: each.before, after: each.after, change: each.after - each.before, changed: each.changed ? "yes" : "" } }));
    return Tables.table({ caption: `${data.row.edit_distance} of ${data.edits.length} parameters changed`, columns: ["parameter", "before", "after", "change", "changed"].map((name) => ({ name })), rows });
  }

  Pages.add({
    name: "revision",
    title: "Revision",
    async render(main, { parts, query }) {
      const data = await Data.get(`revision/${parts.map(encodeURIComponent).join("/")}`, Query.selection(query));
      const row = data.row;
      const step = (key) => (key ? Query.address("revision", key, Query.selection(query)) : null);
      for (const [name, key] of [["j", data.after], ["k", data.before]]) {
        Pages.onKey(name, () => { if (key) location.hash = step(key); });
      }
      main.append(
        h("h1", `${Names.value("env", row.env)} · ${Names.value("variant", row.variant)} · run ${row.run} · iteration ${row.iteration}`),
        h("p.muted", shown(row.condition), data.model ? ` · ${data.model}` : ""),
        h("p", data.before ? link("← before (k)", step(data.before)) : "", " ", data.after ? link("after (j) →", step(data.after)) : "",
          data.place ? ` ${number(data.place)} along ` : " ", link("these revisions", Query.address("revisions", [], Query.selection(query))),
          " · ", link("its run", Query.address("run", parts.slice(0, 4))),
          " · ", link("replay", Query.address("replay", parts, Query.selection(query)))),
        verdicts(row),
        h("p", data.reason),
        h("div.twocol",
          h("section", h("h2", "Answer"), answer(data), data.driver ? h("p", "Driver, by plain rules: ", h("strong", data.driver.name)) : null),
          h("section", h("h2", data.text ? "What became of the text" : "Edits"), edits(data))),
        data.thinking ? h("details", h("summary", "Thinking"), h("pre", data.thinking)) : "",
        data.prompt ? h("details", h("summary", "The exact prompt"), h("pre", data.prompt)) : "",
      );
    },
  });
})();
