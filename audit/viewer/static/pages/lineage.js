"use strict";

// The tree of a run's candidates on a canvas, which takes thousands of them; a table says the same to those who do not see it.
(() => {
  const STEP = { x: 26, y: 44 };
  const NEAR = 12;
  const ROWS = 200;
  const KINDS = [["seed", "what the run began with"], ["kept", "kept"], ["merged", "merge of two"], ["refused", "refused"], ["chosen", "chosen"]];
  const kind = (node) => (node.candidate === null ? "refused" : node.role === "merge" ? "merged" : node.role === "seed" ? "seed" : "kept");
  const score = (node) => node.validation ?? node.after;

  function said(node) {
    const name = node.candidate === null ? `Proposal of iteration ${node.iteration}, refused${node.why ? ` (${node.why})` : ""}` : `Candidate ${node.candidate}, ${node.role}`;
    const parents = node.parents ? ` of ${node.parents}` : "";
    const gain = node.minibatch_gain === null ? "" : `, minibatch ${number(node.before)} → ${number(node.after)}`;
    return `${name}${parents}${gain}${node.validation === null ? "" : `, validation ${number(node.validation)}`}`;
  }

  /** The canvas, and what is done to it: {draw, fit, zoom, choose, toggle}. */
  function tree(canvas, nodes, legend, onChoose) {
    const context = canvas.getContext("2d");
    let transform = d3.zoomIdentity;
    let chosen = null;
    let hasRefused = true;
    let waiting = false;
    const seen = () => nodes.filter((node) => hasRefused || node.candidate !== null);

    function draw() {
      waiting = false;
      const ratio = devicePixelRatio || 1;
      const { width, height } = canvas.getBoundingClientRect();
      if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
      if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
      const colour = Object.fromEntries(Object.entries(legend).map(([name, element]) => [name, getComputedStyle(element).color]));
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      const at = (node) => [transform.applyX(node.x * STEP.x), transform.applyY(node.y * STEP.y)];
      const isIn = ([x, y]) => x > -NEAR && x < width + NEAR && y > -NEAR && y < height + NEAR;
      const shownNodes = seen();
      for (const isMerge of [false, true]) {
        context.beginPath();
        context.setLineDash(isMerge ? [4, 3] : []);
        for (const node of shownNodes) {
          const [x, y] = at(node);
          for (const place of isMerge ? node.above.slice(1) : node.above.slice(0, 1)) {
            const [fromX, fromY] = at(nodes[place]);
            if (Math.max(x, fromX) < 0 || Math.min(x, fromX) > width || y < 0 || fromY > height) continue;
            context.moveTo(fromX, fromY);
            context.lineTo(x, y);
          }
        }
        context.strokeStyle = isMerge ? colour.merged : colour.line;
        context.lineWidth = isMerge ? 1.5 : Math.min(1, Math.max(0.3, transform.k));
        context.stroke();
      }
      context.setLineDash([]);
      const size = Math.min(7, Math.max(1.5, 5 * transform.k));
      for (const [name] of KINDS) {
        context.fillStyle = colour[name];
        context.beginPath();
        for (const node of shownNodes) {
          const place = at(node);
          if ((name === "chosen" ? node !== chosen : kind(node) !== name) || !isIn(place)) continue;
          const radius = name === "chosen" ? size + 3 : name === "refused" ? size * 0.6 : size;
          context.moveTo(place[0] + radius, place[1]);
          context.arc(place[0], place[1], radius, 0, 2 * Math.PI);
        }
        context.fill();
      }
      if (transform.k < 0.9) return;
      context.fillStyle = colour.seed;
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "center";
      for (const node of shownNodes) {
        const place = at(node);
        if (node.candidate !== null && isIn(place)) context.fillText(shown(node.candidate).slice(0, 8), place[0], place[1] - size - 3);
      }
    }

    function again() {
      if (!waiting) requestAnimationFrame(draw);
      waiting = true;
    }

    const zoom = d3.zoom().scaleExtent([0.005, 8]).on("zoom", (event) => {
      ({ transform } = event);
      again();
    });
    const selection = d3.select(canvas).call(zoom).on("dblclick.zoom", null);

    function fit() {
      const { width, height } = canvas.getBoundingClientRect();
      const [left, right] = d3.extent(nodes, (node) => node.x * STEP.x);
      const [top, bottom] = d3.extent(nodes, (node) => node.y * STEP.y);
      const k = Math.min(1.5, 0.9 * Math.min(width / (right - left + 2 * STEP.x), height / (bottom - top + 2 * STEP.y)));
      selection.call(zoom.transform, d3.zoomIdentity.translate(width / 2 - (k * (left + right)) / 2, height / 2 - (k * (top + bottom)) / 2).scale(k));
    }

    function choose(node) {
      chosen = node;
      again();
      onChoose(node);
    }

    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      const [x, y] = [transform.invertX(event.clientX - box.left) / STEP.x, transform.invertY(event.clientY - box.top) / STEP.y];
      const apart = (node) => Math.hypot((node.x - x) * STEP.x, (node.y - y) * STEP.y) * transform.k;
      const nearest = d3.least(seen(), apart);
      if (nearest && apart(nearest) < NEAR) choose(nearest);
    });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
      if (moves[event.key]) selection.call(zoom.translateBy, ...moves[event.key].map((each) => each / transform.k));
      else if (event.key === "+" || event.key === "-") selection.call(zoom.scaleBy, event.key === "+" ? 1.3 : 1 / 1.3);
      else return;
      event.preventDefault();
    });
    return { again, fit, choose, zoom: (by) => selection.call(zoom.scaleBy, by), toggle: (has) => { hasRefused = has; again(); } };
  }

  function details(key, node) {
    const read = node.iteration === null ? null : link("Read the revision", Query.address("revision", [...key, node.iteration]));
    return [h("h2", said(node)), read && h("p", read)];
  }

  async function blame(key, node) {
    if (node.candidate === null) return null;
    const { rows } = await Data.get(`blame/${[...key, node.candidate].map(encodeURIComponent).join("/")}`);
    if (!rows.length) return h("p.muted", "Its text is not in the log.");
    const columns = ["sentence", "how", "ratio", "candidate", "iteration", "reason", "minibatch_gain", "validation_gain"];
    return Tables.table({ caption: `Where the sentences of candidate ${shown(node.candidate)} came from`, columns: columns.map((name) => ({ name })),
      rows: rows.map((cells) => ({ cells, hrefs: { iteration: cells.iteration === null ? null : Query.address("revision", [...key, cells.iteration]) } })) });
  }

  Pages.add({
    name: "lineage",
    title: "Lineage",
    isServedOnly: true,
    async render(main, { parts }) {
      const { key, nodes, verdict } = await Data.get(`lineage/${parts.map(encodeURIComponent).join("/")}`);
      const [, env, variant, run] = key;
      const best = d3.greatest(nodes.filter((node) => node.candidate !== null && typeof score(node) === "number"), score);
      const canvas = h("canvas.tree", { tabindex: "0", role: "img", "aria-label": `The tree of ${nodes.length} candidates and proposals; the table below lists them` });
      const legend = Object.fromEntries([...KINDS.map(([name]) => name), "line"].map((name) => [name, h(`span.dot.${name}`)]));
      const panel = h("section", { "aria-live": "polite" });
      let turn = 0;
      const drawn = tree(canvas, nodes, legend, async (node) => {
        const mine = ++turn;
        panel.replaceChildren(...details(key, node).filter(Boolean));
        try {
          const table = await blame(key, node);
          if (table && mine === turn) panel.append(table);
        } catch (error) {
          if (mine === turn) panel.append(h("p.error", shown(error.message)));
        }
      });
      const button = (text, action) => h("button", { type: "button", onclick: action }, text);
      const refused = h("input", { type: "checkbox", checked: true, onchange: (event) => drawn.toggle(event.target.checked) });
      const columns = ["candidate", "iteration", "role", "parents", "why", "before", "after", "minibatch_gain", "validation"];
      const rows = nodes.slice(0, ROWS).map((cells) => ({ cells, hrefs: { iteration: cells.iteration === null ? null : Query.address("revision", [...key, cells.iteration]) } }));
      main.append(
        h("h1", `Lineage · ${Names.value("env", env)} · ${Names.value("variant", variant)} · run ${run}`),
        h("p", link("The run", Query.address("run", key))), ...verdict.map((line) => h("p", shown(line))),
        h("div.treebar", button("Zoom in", () => drawn.zoom(1.5)), button("Zoom out", () => drawn.zoom(1 / 1.5)), button("Fit", () => drawn.fit()),
          best ? button(`Best: ${shown(best.candidate)}`, () => drawn.choose(best)) : null, h("label", refused, " refused proposals"),
          KINDS.map(([name, words]) => h("span", legend[name], words)), h("span.line", legend.line, "from parent to child, downwards")),
        canvas, panel,
        Tables.table({ caption: "Candidates and proposals", columns: columns.map((name) => ({ name })), rows }),
        nodes.length > ROWS ? h("p.muted", `… and ${number(nodes.length - ROWS)} more: audit lineage lists them`) : "",
      );
      const observer = new ResizeObserver(() => { drawn.fit(); });
      observer.observe(canvas);
      const scheme = matchMedia("(prefers-color-scheme: dark)");
      scheme.addEventListener("change", drawn.again);
      document.getElementById("theme").addEventListener("click", drawn.again);
      return () => {
        observer.disconnect();
        scheme.removeEventListener("change", drawn.again);
        document.getElementById("theme").removeEventListener("click", drawn.again);
      };
    },
  });
})();
