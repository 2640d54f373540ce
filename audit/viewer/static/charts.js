"use strict";

// What all charts share: a figure with its numbers as a table, small panels, marks that are links, colours of both themes.
const Charts = (() => {
  const KEY = ["condition", "env", "variant"];

  /** A colour of the figures that is legible on either theme's paper: on dark paper the darkest have some of the ink.
      Plot knows color-mix() as a colour; light-dark() it would take for the name of a column. */
  function ink(colour) {
    return `color-mix(in oklab, ${colour} 72%, light-dark(${colour}, var(--ink)))`;
  }

  const method = (variant) => ink(Names.about.colours.methods[variant] || "#777777");
  const direction = (name) => ink(Names.about.colours.directions[name]);

  /** A figure: {id, title, note, body: nodes or a promise of them, table: {columns, rows}, or what makes it once asked}. */
  function figure({ id, title, note, body, table }) {
    const place = h("div.panels-of");
    const asTable = h("details.as-table", h("summary", "As a table"));
    Promise.resolve(body).then(
      (found) => {
        place.replaceChildren(...[found].flat(Infinity).filter(Boolean));
        if (!place.childNodes.length) place.replaceChildren(h("p.muted", "Nothing of this is recorded here."));
      },
      (error) => {
        place.replaceChildren(h("p.muted", shown(error.message)));
        asTable.remove();
      },
    );
    asTable.addEventListener("toggle", async () => {
      if (asTable.open && asTable.childNodes.length === 1) {
        asTable.append(Tables.table({ caption: title, ...(typeof table === "function" ? await table() : table) }));
      }
    });
    const caption = h("figcaption", h("h3", Names.worded(title)), note ? h("p.muted", Names.worded(note)) : null);
    return h(`figure.chart#${id}`, { tabindex: "-1" }, caption, place, asTable);
  }

  // Drawings that wait until they are near what is seen: hundreds of small panels would keep a page from answering.
  const waiting = new Map();
  const nearby = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) draw(target);
  }, { rootMargin: "600px" });

  function draw(place) {
    nearby.unobserve(place);
    const make = waiting.get(place);
    waiting.delete(place);
    if (make) place.replaceChildren(make());
  }

  addEventListener("beforeprint", () => [...waiting.keys()].filter((place) => place.isConnected).forEach(draw));
  addEventListener("hashchange", () => {
    nearby.disconnect();
    waiting.clear();
  });

  /** A place of some height in pixels for what is drawn when it comes near the part of the page that is seen. */
  function lazily(height, make) {
    const place = h("div");
    place.style.minHeight = `${height}px`;
    waiting.set(place, make);
    nearby.observe(place);
    return place;
  }

  /** Groups of rows by some columns, in the order in which they come: [[values, rows]]. */
  function grouped(rows, names) {
    const groups = new Map();
    for (const row of rows) {
      const key = JSON.stringify(names.map((name) => row[name]));
      if (!groups.has(key)) groups.set(key, [names.map((name) => row[name]), []]);
      groups.get(key)[1].push(row);
    }
    return [...groups.values()];
  }

  /** A panel for each group of rows, below a heading for each condition if there are several. */
  function panels(rows, names, make) {
    const conditions = grouped(rows, ["condition"]);
    return conditions.map(([[condition], of]) => [
      conditions.length > 1 ? h("h4", Names.value("condition", condition)) : null,
      h("div.panels", grouped(of, names).map(([values, mine]) => make(values, mine)).filter(Boolean)),
    ]);
  }

  const panel = (title, chart) => h("div.panel", h("p.panel-title", title), chart);

  /** A chart by Plot; each link's name is the title of its mark. The text says what is to be seen. */
  function plot(text, options) {
    const x = { labelAnchor: "center", labelArrow: "none", ...options.x }; // below the ticks' labels, not upon the last one
    const chart = Plot.plot({ ...options, x, ariaLabel: text, style: { background: "transparent", color: "inherit", overflow: "visible" } });
    chart.setAttribute("role", "group");
    for (const each of chart.querySelectorAll("g[aria-label]")) each.removeAttribute("aria-label");
    for (const anchor of chart.querySelectorAll("a")) {
      const name = anchor.querySelector("title");
      if (!name) continue;
      anchor.setAttribute("aria-label", name.textContent);
      if (anchor.querySelector("text")) name.remove(); // or it would be read as part of the text
    }
    return chart;
  }

  /** Links of a chart that are too many to be stepped through by keyboard; the chart's table has them too. */
  function onlyPointed(chart) {
    for (const anchor of chart.querySelectorAll("a")) anchor.setAttribute("tabindex", "-1");
    return chart;
  }

  const GAP = 20; // between panels, as charts.css has it

  /** The width in pixels of each of some panels that fill the page side by side, none below `least` unless the page is; `beside` is taken. */
  function width(count, least, beside = 0) {
    const main = document.getElementById("main");
    const { paddingLeft, paddingRight } = getComputedStyle(main);
    const all = main.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - beside;
    const columns = Math.max(1, Math.min(count, Math.floor((all + GAP) / (least + GAP))));
    return Math.floor((all - GAP * (columns - 1)) / columns);
  }

  /** The width in pixels that the longest of some labels takes. */
  const room = (labels) => 12 + 6.4 * Math.max(...labels.map((label) => label.length));

  /** What a mark's colour means: [[colour, text]]. */
  function legend(entries) {
    return h("ul.legend", entries.map(([colour, text, isHollow]) => {
      const swatch = h("span.swatch");
      swatch.style[isHollow ? "borderColor" : "background"] = colour;
      return h("li", swatch, text);
    }));
  }

  /** The smallest and the largest of some values; a range around them where they are equal. */
  function extent(values) {
    const [low, high] = d3.extent(values.filter(Number.isFinite));
    return low === undefined ? [0, 1] : low === high ? [low - 1, high + 1] : [low, high];
  }

  /** Labels of ticks of an axis of whole numbers; those between have none. */
  const whole = (value) => (Number.isInteger(value) ? number(value) : "");

  /** Points of curves: [{iterations, [of]}] to [{iteration, value, ...}]. */
  function points(curves, of) {
    return curves.flatMap((curve) => curve.iterations.map((iteration, place) => ({ ...curve, iteration, value: curve[of][place] })));
  }

  const runName = (row) => `${Names.value("variant", row.variant)}, run ${row.run}: ${number(row.best.at(-1))} at the end`;
  const runAddress = (row) => Query.address("run", [...KEY.map((name) => row[name]), row.run]);

  /** Curves of runs as thin lines that lead to them, and means as thick ones. colourOf takes a row. */
  function curves({ text, runs, means, colourOf, domain, width, height }) {
    const ends = { x: "iteration", y: "value" };
    return onlyPointed(plot(text, {
      width, height, marginLeft: 42, marginRight: 8, marginTop: 6, marginBottom: 36,
      x: { label: "iteration", ticks: 4, tickFormat: whole }, y: { label: null, domain, ticks: 4, grid: true },
      color: { type: "identity" },
      marks: [
        Plot.line(points(runs, "best"), {
          ...ends, z: (row) => JSON.stringify([...KEY.map((name) => row[name]), row.run]), stroke: colourOf, strokeWidth: 1, strokeOpacity: 0.5,
          curve: "step-after", href: runAddress, title: runName,
        }),
        Plot.line(points(means, "mean"), {
          ...ends, z: (row) => JSON.stringify(KEY.map((name) => row[name])), stroke: colourOf, strokeWidth: 2.5, pointerEvents: "none",
          curve: "step-after",
        }),
      ],
    }));
  }

  return {
    KEY, curves, direction, extent, figure, grouped, ink, lazily, legend, method, panel, panels, plot, room, runAddress,
    whole, width,
  };
})();
