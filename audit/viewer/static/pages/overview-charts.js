"use strict";

// The overview's charts. Each mark leads to the revisions that it counts, or to its run.
const OverviewCharts = (() => {
  const LEAST = 340; // pixels of a panel
  const CONTENTS = 182; // of the list beside the charts and its gap, as overview.css has them
  const across = (count, least) => Charts.width(count, least, matchMedia("(min-width: 1200px)").matches ? CONTENTS : 0);

  const tableOf = (overview, name) => overview.tables.find((each) => each.name === name);
  const flat = (table, passes) => (table ? table.rows.filter((row) => passes(row.cells)).map((row) => ({ ...row.cells, links: row.links })) : []);
  const named = (row) => Names.value("variant", row.variant);
  const LIFT = 8; // between the dots of a row, which may be equal

  /** Dots of shares, a panel for each task with a row for each method, or one of all tasks where there is one method. */
  function shares(rows, dots, { top, label, end }) {
    const outer = new Set(rows.map((row) => row.variant)).size > 1 ? "env" : "variant";
    const inner = (row) => (outer === "env" ? named(row) : Names.value("env", row.env));
    const left = Charts.room(rows.map(inner));
    const width = across(new Set(rows.map((row) => row[outer])).size, LEAST);
    return Charts.panels(rows, [outer], ([value], mine) => {
      const title = Names.value(outer, value);
      const lift = (place) => LIFT * (place - (dots.length - 1) / 2);
      const hasEnds = (row, { ends }) => (row[`${ends}_low`] ?? null) !== null;
      const interval = (row, dot) => (hasEnds(row, dot) ? `, ${Tables.isRough(row, dot.ends) ? "rough " : ""}95% interval ${percent(row[`${dot.ends}_low`])} to ${percent(row[`${dot.ends}_high`])}` : "");
      const says = (row, dot) => `${title}, ${inner(row)}: ${number(row[dot.count])} of ${number(row[dot.of])} ${dot.what} (${percent(row[dot.share])}${interval(row, dot)})`;
      const chart = Charts.plot(`${title}: share ${label}`, {
        width, height: 46 + (LIFT * dots.length + 14) * mine.length, marginLeft: left, marginRight: end ? 62 : 14, marginTop: 6, marginBottom: 34,
        x: { domain: [0, top], label: `${label} (%)`, ticks: 5, grid: true },
        y: { domain: mine.map(inner), label: null, type: "point", padding: 0.6, tickSize: 0 },
        color: { type: "identity" }, opacity: { type: "identity" },
        marks: [
          ...dots.map((dot, place) => Plot.ruleY(mine.filter((row) => hasEnds(row, dot)), {
            x1: `${dot.ends}_low`, x2: (row) => Math.min(top, row[`${dot.ends}_high`]), y: inner, dy: lift(place), stroke: dot.fill, strokeWidth: 1.5,
            strokeOpacity: (row) => (Tables.isRough(row, dot.ends) ? 0.45 : 1),
          })),
          ...dots.map((dot, place) => Plot.dot(mine.filter((row) => row[dot.share] !== null), {
            x: dot.share, y: inner, dy: lift(place), r: 4.5, fill: dot.isHollow ? "var(--paper)" : dot.fill, stroke: dot.fill, strokeWidth: 2,
            href: (row) => Query.revisions(row.links[dot.count]), title: (row) => says(row, dot),
          })),
          end ? Plot.text(mine, {
            x: top, y: inner, dx: 10, textAnchor: "start", fill: Data.isExported ? "currentColor" : "var(--accent)", text: (row) => `${number(row[end.count])} of ${number(row[end.of])}`,
            href: (row) => Query.revisions(row.links[end.count]), title: (row) => says(row, end),
          }) : null,
        ].filter(Boolean),
      });
      return Charts.panel(title, chart);
    });
  }

  /** The end of an axis of percentages that has all of some dots and their intervals. */
  function top(rows, dots) {
    const most = Math.max(0, ...rows.flatMap((row) => dots.map(({ ends, share }) => row[`${ends}_high`] ?? row[share] ?? 0)));
    return Math.min(100, Math.max(5, Math.ceil(most / 5) * 5));
  }

  function salience(overview, passes) {
    const table = tableOf(overview, "salience");
    const rows = flat(table, passes);
    if (!rows.length) return null;
    const { strict, permissive } = Names.about.colours;
    const dots = [
      { count: "permissive", ends: "permissive", of: "regressions", share: "permissive_pct", fill: Charts.ink(permissive), what: "regressions are salience regressions by the permissive criterion" },
      { count: "strict", ends: "strict", of: "regressions", share: "strict_pct", fill: Charts.ink(strict), what: "regressions are salience regressions by the strict criterion" },
    ];
    return Charts.figure({
      id: "chart-salience",
      title: "Salience regressions",
      note: "The share of regressions whose answer cites the item of interest (by default the worst rollout), by the strict and the permissive criterion. At the right: strict ones, of regressions. A line is a 95% interval, with runs as clusters; it is pale where it is rough, as too few runs inform it to rely on, and lacking where there is one run or none differ.",
      body: [
        Charts.legend([[dots[1].fill, "strict"], [dots[0].fill, "permissive"]]),
        shares(rows, dots, { top: top(rows, dots), label: "of regressions", end: dots[1] }),
      ],
      table: { columns: columnsOf([...Charts.KEY, "revisions", "regressions", ["strict", "strict_pct", "regressions"], ["permissive", "permissive_pct", "regressions"]]), rows: table.rows.filter((row) => passes(row.cells)) },
    });
  }

  function citing(overview, passes) {
    const table = tableOf(overview, "rates");
    const rows = flat(table, passes).filter((row) => row.links.citing_regressions);
    if (!rows.length) return null;
    const kinds = [["regressions", "regression"], ["improvements", "improvement"], ["no_change", "no_change"]];
    const dots = kinds.map(([name, direction]) => ({
      count: `citing_${name}`, of: name, share: `citing_${name}_pct`, ends: `citing_${name}_pct`, fill: Charts.direction(direction), isHollow: name === "no_change",
      what: `answers before ${name === "no_change" ? "unchanged returns" : name} cite it`,
    }));
    return Charts.figure({
      id: "chart-citing",
      title: "Citing rates",
      note: "How often answers cite the item of interest (by default the worst rollout), among regressions, improvements and unchanged returns. Where the three are close together, citing does not go with harm. A line is a 95% interval, with runs as clusters; it is pale where it is rough, as too few runs inform it to rely on.",
      body: [
        Charts.legend([[dots[0].fill, "regressions"], [dots[1].fill, "improvements"], [dots[2].fill, "no change", true]]),
        shares(rows, dots, { top: top(rows, dots), label: "of answers that cite" }),
      ],
      table: { columns: columnsOf([...Charts.KEY, ...dots.map((dot) => [dot.count, dot.share, dot.of])]), rows: table.rows.filter((row) => passes(row.cells)) },
    });
  }

  function columnsOf(names) {
    return names.map((name) => (Array.isArray(name) ? { name: name[0], share: name[1], of: name[2] } : { name }));
  }

  function learning(passes) {
    const found = Data.get("curves");
    const mine = found.then(({ runs, means }) => ({ runs: runs.filter(passes), means: means.filter(passes) }));
    return Charts.figure({
      id: "chart-curves",
      title: "Learning curves",
      note: "The best return so far. A thin line is a run, and leads to it (at most 20 of each method); the thick one is the mean over all runs of the method.",
      body: mine.then(({ runs, means }) => {
        const ranges = new Map(Charts.grouped(runs, ["env"]).map(([[env], of]) => [env, Charts.extent(of.flatMap((run) => run.best))]));
        const methods = new Set(runs.map((run) => run.variant)).size;
        const width = across(methods > 1 ? methods : ranges.size, 225);
        const height = Math.min(220, Math.round(width * 0.6));
        return Charts.panels(runs, ["env"], ([env], of) => h("div.task", h("p.panel-title", Names.value("env", env)),
          h("div.panels", Charts.grouped(of, ["variant"]).map(([[variant], lines]) => {
            const cell = { condition: lines[0].condition, env, variant };
            const isMine = (row) => Charts.KEY.every((name) => row[name] === cell[name]);
            return h("div.panel", h("p.panel-title", link(Names.value("variant", variant), Query.revisions(cell))), Charts.lazily(height, () => Charts.curves({
              text: `${Names.value("env", env)}, ${Names.value("variant", variant)}: best return so far of ${lines.length} runs`,
              runs: lines, means: means.filter(isMine), colourOf: () => Charts.method(variant), domain: ranges.get(env), width, height,
            })));
          }))));
      }),
      table: () => mine.then(({ runs }) => ({
        columns: columnsOf([...Charts.KEY, "run", "iterations", "best_return"]),
        rows: runs.map((run) => ({
          cells: { ...run, iterations: run.iterations.at(-1) + 1, best_return: run.best.at(-1) },
          hrefs: { run: Charts.runAddress(run) },
        })),
      })),
    });
  }

  /** All charts of which something is recorded. passes: of a row with condition, task and method. */
  function all(overview, passes) {
    return [salience(overview, passes), citing(overview, passes), learning(passes)].filter(Boolean);
  }

  return { all };
})();
