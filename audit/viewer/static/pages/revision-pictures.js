"use strict";

// Pictures of a revision: the returns of both candidates on one axis, and what became of each parameter.
const RevisionPictures = (() => {
  const ROLES = ["worst", "median", "best"];
  const SHAPES = { worst: "M0 6-5.5-4h11z", median: "M0-6 6 0 0 6-6 0z", best: "M0-6 5.5 4h-11z" };
  const STACK = 70; // pixels that equal returns may pile up to

  function svg(name, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children.flat(Infinity).filter(Boolean));
    return element;
  }

  /** A scale from values to percentages of the width, or to pixels. */
  function scale(values, from, to) {
    let low = d3.min(values), high = d3.max(values);
    if (low === high) [low, high] = [low - 1, high + 1];
    return d3.scaleLinear([low, high], [from, to]);
  }

  /** A shape at a percentage of the width: only a nested picture can be placed so. */
  const placed = (x, y, ...children) => svg("svg", { x: `${x}%`, y, class: "placed" }, children);

  /** Whether both candidates were evaluated on the same seeds or examples, so that returns belong together. */
  function arePaired({ initial, revised }) {
    const [before, after] = [initial, revised].map((each) => each.example_ids || each.seeds);
    return Boolean(before && after && before.length === after.length && before.every((each, index) => each === after[index]));
  }

  const roleOf = (row, index) => ROLES.filter((role) => row[`${role}_rollout`] === index && row[role] !== null);

  function lane(candidate, roles, x, name, top) {
    const returns = candidate.returns || [];
    const piles = new Map();
    const pile = returns.map((value) => {
      const bin = Math.round(x(value));
      piles.set(bin, (piles.get(bin) || 0) + 1);
      return piles.get(bin) - 1;
    });
    const highest = Math.max(1, ...piles.values());
    const step = Math.min(7, STACK / highest);
    const floor = top + 26 + step * (highest - 1);
    const dots = returns.map((value, index) => {
      const title = svg("title", {}, `${name}: ${number(value)}${roles(index).map((role) => `, ${role}`).join("")}`);
      const y = floor - step * pile[index];
      const [role] = roles(index);
      return [role ? 1 : 0, role
        ? placed(x(value), y, svg("path", { d: SHAPES[role], class: `dot ${role}` }, title))
        : svg("circle", { cx: `${x(value)}%`, cy: y, r: 3.2, class: "dot" }, title)];
    });
    dots.sort(([a], [b]) => a - b); // marked ones above the others
    const mean = x(candidate.mean_return);
    return {
      floor,
      marks: [
        svg("text", { x: 0, y: top + 8, class: "lane" }, name),
        svg("line", { x1: `${mean}%`, x2: `${mean}%`, y1: top + 14, y2: floor + 8, class: "mean" }),
        ...dots.map(([, mark]) => mark),
      ],
    };
  }

  /** The returns of both candidates as dots on one axis, with the worst, median and best one marked, and the means. */
  function returns(data) {
    const { row, initial, revised } = data;
    const isPaired = arePaired(data);
    const every = [...(initial.returns || []), ...(revised.returns || []), initial.mean_return, revised.mean_return];
    const x = scale(every, 3, 97);
    const marked = (index) => roleOf(row, index);
    const before = lane(initial, marked, x, `before, mean ${number(row.r0)}`, 4);
    const after = lane(revised, isPaired ? marked : () => [], x, `after, mean ${number(row.r1)}`, before.floor + 30);
    const arrow = before.floor + 14;
    const axis = after.floor + 14;
    const [from, to] = [x(row.r0), x(row.r1)];
    const what = data.text ? "scores" : "returns";
    const summary = `${what} of both candidates: mean ${number(row.r0)} before, ${number(row.r1)} after`;
    return svg("svg", { class: "dots", height: axis + 22, role: "img", "aria-label": summary },
      d3.ticks(...x.domain(), 6).map((tick) => [
        svg("line", { x1: `${x(tick)}%`, x2: `${x(tick)}%`, y1: 14, y2: axis, class: "grid" }),
        svg("text", { x: `${x(tick)}%`, y: axis + 15, class: "tick" }, number(tick)),
      ]),
      svg("line", { x1: `${from}%`, x2: `${to}%`, y1: arrow, y2: arrow, class: `change ${row.direction}` }),
      Math.abs(to - from) < 0.5 ? null : placed(to, arrow, svg("path", { d: to > from ? "M0 0-7-4v8z" : "M0 0 7-4v8z", class: `head ${row.direction}` })),
      before.marks, after.marks);
  }

  function legend(data) {
    const known = ROLES.filter((role) => data.row[role] !== null);
    return h("p.legend", known.map((role) => h("span", svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      svg("path", { d: SHAPES[role], class: `dot ${role}` })), ` ${role} ${number(data.row[role])}`)),
    h("span.muted", "lines: means", arePaired(data) && known.length ? `; below, the same ${data.text ? "examples" : "seeds"}` : ""));
  }

  /** Every parameter: its index across, its value upwards; changed ones as a line from before to after. */
  function parameters({ before, after, changed }) {
    const HEIGHT = 170;
    const y = scale([...before, ...after, 0], HEIGHT - 24, 10);
    const x = (index) => 6 + (93 * (index + 0.5)) / before.length;
    const isChanged = new Set(changed);
    const every = Math.ceil(before.length / 24);
    const summary = `${changed.length} of ${before.length} parameters changed; the table below has their values`;
    return svg("svg", { class: "parameters", height: HEIGHT, role: "img", "aria-label": summary },
      d3.ticks(...y.domain(), 4).map((tick) => [
        svg("line", { x1: "5%", x2: "100%", y1: y(tick), y2: y(tick), class: tick === 0 ? "zero" : "grid" }),
        svg("text", { x: "4%", y: y(tick) + 4, class: "tick end" }, number(tick)),
      ]),
      before.map((old, index) => {
        const at = `${x(index)}%`;
        const title = svg("title", {}, `params[${index}]: ${number(old)} → ${number(after[index])}`);
        const label = index % every ? null : svg("text", { x: at, y: HEIGHT - 4, class: "tick" }, String(index));
        if (!isChanged.has(index)) return [svg("circle", { cx: at, cy: y(old), r: 2.5, class: "kept" }, title), label];
        return [svg("g", { class: after[index] > old ? "up" : "down" },
          svg("line", { x1: at, x2: at, y1: y(old), y2: y(after[index]) }),
          svg("circle", { cx: at, cy: y(old), r: 4, class: "old" }), svg("circle", { cx: at, cy: y(after[index]), r: 4, class: "new" }), title), label];
      }));
  }

  // Tables of states that are cells of a grid, with what each action does.
  const GRIDS = { frozenlake: { side: 4, moves: "←↓→↑" }, maze: { side: 3, moves: "↑↓→←" } };

  /** The grid of a task whose states are cells: the move in each, before and after; null for other tasks. */
  function grid(env, { before, after, changed }) {
    const found = GRIDS[env];
    const fits = found && before.length === found.side ** 2 && [...before, ...after].every((each) => found.moves[each] !== undefined);
    if (!fits) return null;
    const isChanged = new Set(changed);
    const cell = (state) => h(isChanged.has(state) ? "td.changed" : "td", h("small", String(state)),
      isChanged.has(state) ? [h("del", found.moves[before[state]]), h("ins", found.moves[after[state]])] : found.moves[after[state]]);
    return h("table.states", h("caption", "The move in each cell; where it changed, before and after"),
      h("tbody", d3.range(found.side).map((line) => h("tr", d3.range(found.side).map((place) => cell(line * found.side + place))))));
  }

  return { ROLES, arePaired, returns, legend, parameters, grid, roleOf };
})();
