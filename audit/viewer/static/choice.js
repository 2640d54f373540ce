"use strict";

// Revisions that are chosen in the table, as long as the page is not loaded anew; an address may list them (`rows`).
const Choice = (() => {
  const MOST = 256;
  const chosen = new Map(); // keys by their texts
  let taken = "";
  let last = null; // the box from which a click with Shift reaches to another

  /** Addresses have keys, since numbers of rows change as records grow: condition/task/method/run/3.5.8, run by run. */
  function addressed() {
    const runs = new Map();
    for (const [condition, env, variant, run, iteration] of chosen.values()) {
      const name = [condition, env, variant, run].map(encodeURIComponent).join("/");
      runs.set(name, [...(runs.get(name) || []), iteration]);
    }
    return [...runs].map(([name, iterations]) => `${name}/${iterations.join(".")}`);
  }

  /** Choose what an address lists, once. */
  function take(query) {
    const rows = query.getAll("rows");
    if (rows.join() === taken) return;
    taken = rows.join();
    if (!rows.length) return;
    chosen.clear();
    for (const each of rows) {
      const [condition, env, variant, run, iterations = ""] = each.split("/").map(decodeURIComponent);
      for (const iteration of iterations.split(".")) set([condition, env, variant, Number(run), Number(iteration)], true);
    }
  }

  function set(key, isOn) {
    if (!isOn) chosen.delete(JSON.stringify(key));
    else if (chosen.size < MOST) chosen.set(JSON.stringify(key), key);
  }

  /** The box of a row. A click with Shift does the same to all rows from the one that was clicked last. */
  function box(key) {
    const text = JSON.stringify(key);
    const input = h("input.choose", { type: "checkbox", checked: chosen.has(text), "aria-label": `Choose ${shown(key.join(" "))}`, onclick: (event) => {
      const boxes = [...document.querySelectorAll("input.choose")];
      const [from, to] = [event.shiftKey && last?.isConnected ? boxes.indexOf(last) : boxes.indexOf(input), boxes.indexOf(input)].sort((a, b) => a - b);
      for (const each of boxes.slice(from, to + 1)) set(JSON.parse(each.dataset.key), input.checked);
      last = input;
      refresh();
    } });
    input.dataset.key = text;
    return input;
  }

  function refresh() {
    for (const each of document.querySelectorAll("input.choose")) each.checked = chosen.has(each.dataset.key);
    document.dispatchEvent(new Event("choice"));
  }

  /** What can be done with those that are chosen. columns: of a download; again: shows the table anew without `rows`, or as it is. */
  function bar(query, columns, again) {
    const said = h("span", { role: "status" });
    const listed = () => Query.changed(new URLSearchParams(), { rows: addressed(), sort: query.get("sort") });
    const opening = h("button", { type: "button", onclick: () => attempt(async () => {
      const { rows } = await Data.get("revisions", listed());
      if (!rows.length) throw new Error("none of them is in these records");
      location.hash = Query.address("revision", rows[0].slice(0, 5), listed());
    }) }, "open in turn");
    const csv = link("export CSV", "", { download: "" });
    const copying = h("button", { type: "button", onclick: async () => {
      const address = `${location.href.split("#")[0]}${Query.address("revisions", [], listed())}`;
      try {
        await navigator.clipboard.writeText(address);
        said.textContent = "copied";
      } catch { // without a permission, or from another machine
        location.href = address;
      }
    } }, "copy address");
    const tag = h("input#tag-all", { type: "text", maxlength: "64", placeholder: "tag", "aria-label": "A tag for all that are chosen" });
    const tagging = h("form", { onsubmit: (event) => {
      event.preventDefault();
      const [revision, ...others] = chosen.values();
      if (tag.value.trim()) attempt(async () => {
        await Data.put("marks", { revision, others, tag: tag.value.trim() });
        Marks.forget();
        again(false);
      });
    } }, tag, h("button", { type: "submit" }, "tag all"));
    const clearing = h("button", { type: "button", onclick: () => {
      chosen.clear();
      refresh();
      if (query.has("rows")) again(true);
    } }, "clear");
    const count = h("strong");
    const element = h("div.bar.choice", { role: "group", "aria-label": "Chosen revisions" }, count, opening, csv, copying, tagging, clearing, said);

    async function attempt(what) {
      try {
        await what();
      } catch (error) {
        said.textContent = shown(error.message);
      }
    }

    function fill() {
      element.hidden = !chosen.size;
      count.textContent = `${number(chosen.size)} chosen${chosen.size === MOST ? ", which is the most" : ""}`;
      csv.href = `api/download?${Query.changed(listed(), { columns: columns.join(",") })}`;
      said.textContent = "";
    }

    document.addEventListener("choice", fill);
    fill();
    return [element, () => document.removeEventListener("choice", fill)];
  }

  return { take, box, bar };
})();
