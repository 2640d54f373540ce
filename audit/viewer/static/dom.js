"use strict";

// Elements, and texts that come from records: these are shown, and never act.
const { h, shown, link, number, percent, withMinus } = (() => {
  // What turns the direction of writing, hides characters or controls a terminal; a pair of surrogates is one character.
  const ACTING = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

  /** A text with control and formatting characters spelled out; line breaks and tabs stay. */
  function shown(text) {
    return String(text).replace(ACTING, (character) => {
      if (character === "\n" || character === "\t") return character;
      return `\\u{${character.codePointAt(0).toString(16)}}`;
    });
  }

  /** An element: h("p.note#id", {title, onclick}, "text", child, [children]). */
  function h(name, ...rest) {
    const [tag, ...marks] = name.split(/(?=[.#])/);
    const element = document.createElement(tag || "div");
    for (const mark of marks) {
      if (mark[0] === ".") element.classList.add(mark.slice(1));
      else element.id = mark.slice(1);
    }
    const first = rest[0];
    const isPlain = first !== null && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first);
    for (const [key, value] of Object.entries(isPlain ? rest.shift() : {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (key in element && typeof value !== "string") element[key] = value;
      else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...rest.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
  }

  function link(text, href, attributes = {}) {
    return h("a", { href, ...attributes }, text);
  }

  /** A number's text with a minus sign, unless it is zero. */
  function withMinus(text) {
    return text.replace("-", /[1-9]/.test(text) ? "−" : "");
  }

  /** A number for people: four significant digits below a thousand, one decimal above; nothing for null. */
  function number(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value !== "number") return shown(value);
    const isLarge = Number.isInteger(value) || Math.abs(value) >= 1000;
    const text = isLarge ? value.toLocaleString("en-US", { maximumFractionDigits: 1 }) : String(Number(value.toPrecision(4)));
    return withMinus(text);
  }

  function percent(value) {
    return value === null || value === undefined ? "" : `${value.toFixed(1)}%`;
  }

  return { h, shown, link, number, percent, withMinus };
})();
