"use strict";

// What tasks, methods, columns and values are called.
const Names = (() => {
  let about = null;

  function take(given) {
    about = given;
  }

  function value(column, id) {
    if (id === null || id === undefined) return "not known";
    if (typeof id === "boolean") return id ? "yes" : "no";
    const names = about?.names?.[column];
    return shown(names?.[id] ?? id);
  }

  const HEADINGS = {
    env: "task", variant: "method", r0: "r₀", r1: "r₁", delta: "Δ", p_no_change: "noise p", tau_c: "τ_c",
    p: "p", holm_p: "Holm p", pct: "%",
  };

  function column(name) {
    if (HEADINGS[name]) return HEADINGS[name];
    return worded(name.replace(/_pct\b/g, " %").replace(/_/g, " "));
  }

  /** A text about rollouts and returns in the words that fit the records: texts are scored on items. */
  function worded(text) {
    return about?.texts ? text.replace(/\brollout/g, "item").replace(/\breturn(s?)\b/g, "score$1") : text;
  }

  function meaning(name) {
    return worded(about?.columns.find((each) => each.name === name)?.meaning || "");
  }

  /** What the value of a filter in an address is called. */
  function filter(name, given) {
    if (given === "") return "not known";
    if (given.startsWith("!")) return `not ${filter(name, given.slice(1))}`;
    if (given === "..") return "known";
    if (given === "true") return "yes";
    if (given === "false") return "no";
    const [low, high] = given.split("..");
    if (high === undefined) return value(name, given);
    return low && high ? `${low} to ${high}` : low ? `≥ ${low}` : `≤ ${high}`;
  }

  return { take, value, column, worded, meaning, filter, get about() { return about; } };
})();
