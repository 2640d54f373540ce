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

  /** From what hurt most to what helped most. */
  function patternOrder(about) {
    const by = (direction, sign) => Object.keys(about.patterns)
      .filter((id) => about.patterns[id].direction === direction)
      .sort((a, b) => sign * (about.patterns[a].stake - about.patterns[b].stake));
    return [...by("regression", -1), "no_change", "unclassified", ...by("improvement", 1)];
  }

  function patterns(overview, passes) {
    const table = tableOf(overview, "patterns");
    const rows = flat(table, passes).filter((row) => row.revisions > 0);
    if (!rows.length) return null;
    const about = Names.about;
    const there = new Set(rows.map((row) => row.pattern));
    const order = [...new Set([...patternOrder(about), ...there])].filter((id) => there.has(id));
    const nameOf = (id) => Names.value("pattern", id);
    const colourOf = (id) => Charts.direction(about.patterns[id]?.direction || "no_change");
    const left = Charts.room(order.map(nameOf));
    const tasks = new Set(rows.map((row) => row.env)).size;
    const every = [...new Set(rows.map(named))];
    const most = every.length;
    const least = Math.max(60, Charts.room(every));
    const body = Charts.panels(rows, ["env"], (_, mine) => {
      const task = Names.value("env", mine[0].env);
      const methods = [...new Set(mine.map(named))];
      const column = Math.max(least, Math.floor((across(tasks, left + 6 + least * most) - left - 6) / most));
      const at = { x: named, y: (row) => nameOf(row.pattern) };
      const says = {
        title: (row) => `${task}, ${named(row)}: ${number(row.revisions)} revisions are ${nameOf(row.pattern)} (${percent(row.pct)})`,
      };
      return Charts.panel(task, Charts.plot(`${task}: revisions of each edit pattern, a column for each method`, {
        width: left + 6 + column * methods.length, height: 30 + 20 * order.length, marginLeft: left, marginTop: 24, marginRight: 4, marginBottom: 4,
        x: { domain: methods, axis: "top", label: null, tickSize: 0 },
        y: { domain: order.map(nameOf), label: null, tickSize: 0 },
        color: { type: "identity" }, opacity: { type: "identity" },
        marks: [
          Plot.cell(mine, { ...at, fill: (row) => colourOf(row.pattern), fillOpacity: (row) => 0.1 + 0.5 * (row.pct ?? 0) / 100, inset: 0.75, ...says }),
          Plot.text(mine, { ...at, ...says, href: (row) => Query.revisions(row.links.revisions), text: (row) => number(row.revisions), fill: "currentColor" }),
        ],
      }));
    });
    return Charts.figure({
      id: "chart-patterns",
      title: "Edit patterns",
      note: "How many revisions are of which pattern, from what hurt most to what helped most; the deeper the colour, the larger the share of the method's revisions.",
      body,
      table: { columns: columnsOf([...Charts.KEY, "pattern", ["revisions", "pct"]]), rows: table.rows.filter((row) => passes(row.cells)) },
    });
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

  /** Bins of all methods of a task together: each has the smallest and the largest change in it. */
  function joined(bins) {
    return Charts.grouped(bins, ["place"]).map(([[place], of]) => ({
      ...of[0], place, revisions: d3.sum(of, (bin) => bin.revisions), low: d3.min(of, (bin) => bin.low), high: d3.max(of, (bin) => bin.high),
    })).sort((a, b) => a.place - b.place);
  }

  function changes(passes, variants) {
    const found = Data.get("changes").then(({ bins, widths }) => ({
      widths, rows: Charts.grouped(bins.filter(passes), ["condition", "env"]).flatMap(([, of]) => joined(of)),
    }));
    const filter = (bin) => ({ condition: bin.condition, env: bin.env, ...(variants.length ? { variant: variants } : {}), delta: `${bin.low}..${bin.high}` });
    const kind = (bin) => (bin.place < 0 ? "regression" : bin.place > 0 ? "improvement" : "no_change");
    return Charts.figure({
      id: "chart-changes",
      title: "Changes of the return",
      note: "Δ: the return after a revision less that before it. The height of a bar is the number of revisions, on a square-root scale so that rare changes can be seen; no change is a bar of its own at 0.",
      body: found.then(({ rows, widths }) => Charts.panels(rows, ["env"], ([env], bins) => {
        const step = widths[env];
        const gap = step / 5;
        const from = ({ place }) => (place > 0 ? (place - 1) * step + (place === 1 ? gap : 0) : place < 0 ? place * step : -gap);
        const until = ({ place }) => (place < 0 ? (place + 1) * step - (place === -1 ? gap : 0) : place > 0 ? place * step : gap);
        return Charts.panel(Names.value("env", env), Charts.plot(`${Names.value("env", env)}: how many revisions changed the return by how much`, {
          width: across(new Set(rows.map((row) => row.env)).size, LEAST), height: 180, marginLeft: 42, marginRight: 10, marginTop: 8, marginBottom: 34,
          x: { label: "Δ" }, y: { type: "sqrt", label: null, grid: true, ticks: 4, tickFormat: Charts.whole }, color: { type: "identity" },
          marks: [Plot.rect(bins, {
            x1: from, x2: until, y1: 0, y2: "revisions", fill: (bin) => Charts.direction(kind(bin)), inset: 0.5,
            href: (bin) => Query.revisions(filter(bin)),
            title: (bin) => `${number(bin.revisions)} revisions with Δ ${bin.low === bin.high ? number(bin.low) : `from ${number(bin.low)} to ${number(bin.high)}`}`,
          })],
        }));
      })),
      table: () => found.then(({ rows }) => ({
        columns: columnsOf(["condition", "env", "low", "high", "revisions"]),
        rows: rows.map((bin) => ({ cells: bin, links: { revisions: filter(bin) } })),
      })),
    });
  }

  /** All charts of which something is recorded. passes: of a row with condition, task and method; variants: the methods chosen. */
  function all(overview, passes, variants) {
    return [salience(overview, passes), citing(overview, passes), patterns(overview, passes), learning(passes), changes(passes, variants)].filter(Boolean);
  }

  return { all };
})();
