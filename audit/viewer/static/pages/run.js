"use strict";

// A run: the return of each iteration; click one to read it.
(() => {
  Pages.add({
    name: "run",
    title: "Run",
    async render(main, { parts }) {
      const data = await Data.get(`run/${parts.map(encodeURIComponent).join("/")}`);
      const [condition, env, variant, run] = data.key;
      main.append(h("h1", `${Names.value("env", env)} · ${Names.value("variant", variant)} · run ${run}`), h("p.muted", shown(condition)));
      const columns = ["iteration", "r0", "r1", "delta", "direction", "pattern", "strict"].map((name) => ({ name }));
      const rows = data.revisions.map((cells) => ({ cells, links: {} }));
      main.append(Tables.table({ caption: "Revisions", columns, rows }));
    },
  });

  Pages.add({
    name: "runs",
    title: "Runs",
    inNav: true,
    async render(main) {
      const data = await Data.get("runs");
      main.append(h("h1", "Runs"));
      const rows = data.rows.map((cells) => ({ cells }));
      main.append(Tables.table({ caption: "Runs", columns: data.columns.map((name) => ({ name })), rows }));
    },
  });
})();
