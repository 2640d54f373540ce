"use strict";

// Elements, and texts that come from records: these are shown, and never act.
const { h, shown, link, number, plural, percent, alike, pValue, withMinus } = (() => {
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

  /** A link; the text alone where there is no address. */
  function link(text, href, attributes = {}) {
    return href === null ? h("span", text) : h("a", { href, ...attributes }, text);
  }

  /** A number's text with a minus sign, unless it is zero. */
  function withMinus(text) {
    return text.replace("-", /[1-9]/.test(text) ? "−" : "");
  }

  // Halves as Python rounds them, so that sentences and tables have one number.
  const format = (options) => new Intl.NumberFormat("en-US", { roundingMode: "halfEven", ...options });
  const TENTHS = format({ minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false });
  const LARGE = format({ maximumFractionDigits: 1 });
  const SMALL = format({ maximumSignificantDigits: 4 });

  /** A number for people: four significant digits below a thousand, one decimal above; nothing for null. */
  function number(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value !== "number") return shown(value);
    const isLarge = Number.isInteger(value) || Math.abs(value) >= 1000;
    const text = isLarge ? LARGE.format(value) : Math.abs(value) < 1e-6 ? String(Number(value.toPrecision(4))) : SMALL.format(value);
    return withMinus(text);
  }

  /** A number of things, by what one of them is called. */
  function plural(value, noun) {
    return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
  }

  function percent(value) {
    return value === null || value === undefined ? "" : withMinus(`${TENTHS.format(value)}%`);
  }

  /** A p-value: of three decimals, as smaller ones are told apart by nobody. */
  function pValue(value) {
    return value === null || value === undefined ? "" : value < 0.001 ? "< 0.001" : value.toFixed(3);
  }

  const MOST_DECIMALS = 6;
  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

  /**
   * Decimals of numbers below each other: three digits of the largest, at least one, and up to two more so that the smallest is
   * not rounded to 0; but none that all would do without.
   */
  function decimals(values) {
    const sizes = values.filter((value) => isNumber(value) && value !== 0).map(Math.abs);
    if (!sizes.length) return 0;
    const needed = sizes.reduce((a, size) => Math.max(a, (number(size).split(".")[1] || "").length), 0);
    const [least, most] = [sizes.reduce((a, b) => Math.min(a, b)), sizes.reduce((a, b) => Math.max(a, b))].map((size) => -Math.floor(Math.log10(size)));
    const few = Math.max(1, 2 + most);
    return Math.min(needed, MOST_DECIMALS, Math.max(few, Math.min(few + 2, least)));
  }

  /**
   * Texts of the numbers of a column, with as many decimals for all of a kind, and blanks as wide as digits behind those with fewer.
   * values: [[kind, number]] of all rows; the function takes a kind, such as a task, and a number.
   */
  function alike(values) {
    const byKind = new Map(values.map(([kind]) => [kind, []]));
    for (const [kind, value] of values) byKind.get(kind).push(value);
    const places = new Map([...byKind].map(([kind, mine]) => [kind, decimals(mine)]));
    const most = Math.max(0, ...places.values());
    const formats = new Map([...places].map(([kind, digits]) => [kind, new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })]));
    return (kind, value) => {
      if (!isNumber(value)) return number(value);
      const digits = places.get(kind);
      return withMinus(formats.get(kind).format(value)) + (digits === 0 && most > 0 ? "\u2008" : "") + "\u2007".repeat(most - digits);
    };
  }

  return { h, shown, link, number, plural, percent, alike, pValue, withMinus };
})();
