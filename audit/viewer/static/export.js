"use strict";

// An exported folder answers its pages itself, from script files in data/ that are loaded when they are needed: the
// same answers as the server's, whose rules are in audit/viewer/query.py, table.py and pages.py.
const Exported = (() => {
  const PAGE = 100;
  const MOST_PAGES = 2 ** 40;
  const FACETS = 40;
  const SEARCH = 200;
  const CHUNKS = 12; // files of details that are kept
  const KEY = ["condition", "env", "variant", "run", "iteration"];

  // Files: each calls `put` with its name and its value in JSON.
  const loaded = new Map();
  const arrived = new Map();

  function put(name, text) {
    arrived.set(name, JSON.parse(text));
  }

  function load(name) {
    if (!loaded.has(name)) {
      const chunks = [...loaded.keys()].filter((each) => each.startsWith("details-"));
      if (name.startsWith("details-") && chunks.length >= CHUNKS) loaded.delete(chunks[0]);
      const answer = script(name);
      loaded.set(name, answer);
      answer.catch(() => loaded.delete(name));
    }
    return loaded.get(name);
  }

  function script(name) {
    return new Promise((resolve, reject) => {
      const failed = () => reject(new Error(`the file data/${name}.js is missing or incomplete; export the pages again`));
      const element = h("script", {
        src: `data/${encodeURIComponent(name)}.js`,
        onerror: failed,
        onload: () => {
          element.remove();
          if (!arrived.has(name)) return failed();
          resolve(arrived.get(name));
          arrived.delete(name);
        },
      });
      document.head.append(element);
    });
  }

  const column = (name) => load(`column-${name}`);

  /** The place of a value in a list of chunks, by the number of the first value in each. */
  async function item(name, starts, number) {
    const chunk = starts.findLastIndex((start) => start <= number);
    return (await load(`${name}-${chunk}`))[number - starts[chunk]];
  }

  // Queries, as Query.parse reads them.
  const quoted = (text) => `'${text}'`;

  function known(name, kinds) {
    if (!Object.hasOwn(kinds, name)) throw new Error(`no column ${quoted(name)}`);
  }

  function parsed(query, kinds) {
    const filters = new Map();
    for (const [name, value] of Query.filters(query)) {
      known(name, kinds);
      filters.set(name, [...(filters.get(name) || []), value]);
    }
    const last = (name, missing) => (query.has(name) ? query.getAll(name).at(-1) : missing);
    const sort = last("sort", "").split(",").filter(Boolean);
    for (const name of sort) known(name.replace(/^-/, ""), kinds);
    const page = last("page", "1");
    if (!/^[0-9]+$/.test(page) || Number(page) < 1 || Number(page) > MOST_PAGES) throw new Error(`page ${quoted(page)}: give a whole number from 1`);
    return { filters, sort, search: [...last("q", "")].slice(0, SEARCH).join(""), page: Number(page) };
  }

  const NUMBER = /^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?$/i;
  const INFINITE = /^([+-]?)inf(inity)?$/i;

  function numberOf(name, text) {
    const plain = text.trim();
    const infinite = INFINITE.exec(plain);
    if (infinite) return infinite[1] === "-" ? -Infinity : Infinity;
    if (!NUMBER.test(plain)) throw new Error(`${name}=${text}: give a number, or a range such as -10..0`);
    return Number(plain.replaceAll("_", ""));
  }

  /** Whether a value passes one term of a filter. Comparisons with null are no match, which "!" makes one. */
  function term(name, text, kind, names) {
    if (text.startsWith("!")) {
      const inner = term(name, text.slice(1), kind, names);
      return (value) => !inner(value);
    }
    if (text === "") return (value) => value === null;
    if (kind === "number") return between(name, text);
    if (kind === "boolean") {
      if (text !== "true" && text !== "false") throw new Error(`${name}=${text}: give true or false`);
      return (value) => value === (text === "true");
    }
    const place = names.indexOf(text);
    return (value) => value === place;
  }

  // In DuckDB's order NaN is above all numbers.
  function between(name, text) {
    const dots = text.indexOf("..");
    if (dots < 0) {
      const wanted = numberOf(name, text);
      return (value) => value !== null && value === wanted;
    }
    const [low, high] = [text.slice(0, dots), text.slice(dots + 2)].map((end) => (end === "" ? null : numberOf(name, end)));
    return (value) => value !== null && (low === null || Number.isNaN(value) || value >= low) && (high === null || value <= high);
  }

  function compare(a, b) {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a < b ? -1 : a > b ? 1 : 0;
  }

  const decoded = new WeakMap();

  /** The values of a column: numbers, places among the sorted names, true and false, null. */
  function valuesOf(given, kind) {
    if (!decoded.has(given)) {
      const isOdd = kind === "number" && given.values.some((value) => typeof value === "string");
      const spelled = { nan: NaN, inf: Infinity, "-inf": -Infinity };
      decoded.set(given, isOdd ? given.values.map((value) => (typeof value === "string" ? spelled[value] : value)) : given.values);
    }
    return decoded.get(given);
  }

  /** What is shown of a value, as the server's JSON has it. */
  function outward(given, kind, place) {
    const value = valuesOf(given, kind)[place];
    if (value === null || kind === "boolean") return value;
    return kind === "name" ? given.names[value] : Number.isFinite(value) ? value : null;
  }

  // The numbers of the revisions with a text in the answer or its thinking.
  const searches = new Map();

  async function searched(text, index) {
    const folded = text.toLowerCase();
    if (!searches.has(folded)) {
      const found = new Set();
      const note = h("p.notice", { role: "status" });
      document.getElementById("main").before(note);
      try {
        for (const [chunk, start] of index.texts.entries()) {
          note.textContent = `Searching: part ${chunk + 1} of ${index.texts.length}`;
          (await load(`texts-${chunk}`)).forEach((each, place) => { if (each.includes(folded)) found.add(start + place); });
        }
      } finally {
        note.remove();
      }
      searches.set(folded, found);
    }
    return searches.get(folded);
  }

  /** The numbers of the revisions of a query, in the order of the table. */
  async function selected({ filters, search }, index, without = null) {
    const tests = [];
    for (const [name, texts] of filters) {
      if (name === without) continue;
      const kind = index.kinds[name];
      const given = await column(name);
      const terms = texts.map((text) => term(name, text, kind, given.names));
      const values = valuesOf(given, kind);
      tests.push((place) => terms.some((each) => each(values[place])));
    }
    if (search) {
      const found = await searched(search, index);
      tests.push((place) => found.has(place));
    }
    const number = (await column("run")).values.length;
    return Array.from({ length: number }, (_, place) => place).filter((place) => tests.every((test) => test(place)));
  }

  async function ordered(query, index) {
    const places = await selected(query, index);
    const keys = [];
    for (const name of query.sort) {
      const bare = name.replace(/^-/, "");
      keys.push({ values: valuesOf(await column(bare), index.kinds[bare]), sign: name[0] === "-" ? -1 : 1 });
    }
    return places.sort((a, b) => {
      for (const { values, sign } of keys) {
        const [x, y] = [values[a], values[b]];
        const order = x === null || y === null ? Number(x === null) - Number(y === null) : sign * compare(x, y);
        if (order) return order;
      }
      return a - b;
    });
  }

  async function rowsOf(places, names, kinds) {
    const columns = await Promise.all(names.map(column));
    return places.map((place) => names.map((name, each) => outward(columns[each], kinds[name], place)));
  }

  function listed(query, name, kinds) {
    const names = (query.has(name) ? query.getAll(name).at(-1) : "").split(",").filter(Boolean);
    names.forEach((each) => known(each, kinds));
    return names;
  }

  async function facet(query, index, name) {
    const kind = index.kinds[name];
    const given = await column(name);
    const values = valuesOf(given, kind);
    const places = await selected(query, index, name);
    if (kind === "number") {
      let [low, high] = [null, null];
      for (const place of places) {
        const value = values[place];
        if (value === null) continue;
        if (low === null || compare(value, low) < 0) low = value;
        if (high === null || compare(value, high) > 0) high = value;
      }
      return { range: [low, high].map((end) => (Number.isFinite(end) ? end : null)) };
    }
    const counts = new Map();
    for (const place of places) counts.set(values[place], (counts.get(values[place]) || 0) + 1);
    const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a === null || b === null ? Number(a === null) - Number(b === null) : compare(a, b)));
    return { values: sorted.slice(0, FACETS).map(([value, number]) => [kind === "name" && value !== null ? given.names[value] : value, number]) };
  }

  const columnsOf = (query, kinds) => [...new Set([...KEY, ...listed(query, "columns", kinds)])];

  const ANSWERS = {
    async revisions(_, given) {
      const index = await load("index");
      const query = parsed(given, index.kinds);
      const columns = columnsOf(given, index.kinds);
      const places = await ordered(query, index);
      const shown = places.slice((query.page - 1) * PAGE, query.page * PAGE);
      return { total: places.length, page: query.page, columns, rows: await rowsOf(shown, columns, index.kinds) };
    },

    async facets(_, given) {
      const index = await load("index");
      const query = parsed(given, index.kinds);
      const found = {};
      for (const name of listed(given, "facets", index.kinds)) found[name] = await facet(query, index, name);
      return found;
    },

    async revision(parts, given) {
      const index = await load("index");
      const places = await ordered(parsed(given, index.kinds), index);
      const number = await numbered(parts, index);
      const place = places.indexOf(number);
      const [before, after] = await rowsOf([places[place - 1], places[place + 1]].map((each) => each ?? -1), KEY, index.kinds);
      const page = await item("details", index.details, number);
      return {
        ...page,
        labels: [], // codes and experiments are in files of their own, and not exported
        units: [],
        place: place + 1,
        among: places.length,
        before: place > 0 ? before : null,
        after: place + 1 < places.length ? after : null, // from outside the selection its first
      };
    },

    async run(parts) {
      const index = await load("index");
      const number = index.run_keys.findIndex((key) => key.every((part, each) => String(part) === parts[each]));
      if (number < 0) throw new Error(`no run ${parts.join(" ")}`);
      return item("run", index.runs, number);
    },
  };

  async function numbered(parts, index) {
    const columns = await Promise.all(KEY.map(column));
    // A name is compared as it is: in a filter, an exclamation mark before it would mean all others.
    const wanted = KEY.map((name, each) => (index.kinds[name] === "name" ? columns[each].names.indexOf(parts[each]) : Number(parts[each])));
    const number = columns[0].values.findIndex((_, place) => columns.every(({ values }, each) => values[place] === wanted[each]));
    if (number < 0) throw new Error(`no revision ${parts.join(" ")}: no such iteration, or it has no revised candidate`);
    return number;
  }

  const NEEDS_PROGRAM = "is not part of an exported folder: run `audit view` on the records";

  async function source(path, given) {
    const [name, ...parts] = path.split("/").map(decodeURIComponent);
    if ((await load("index")).whole.includes(path)) return load(path);
    if (!Object.hasOwn(ANSWERS, name)) throw new Error(`this page ${NEEDS_PROGRAM}`);
    return ANSWERS[name](parts, new URLSearchParams(given || ""));
  }

  // A spreadsheet takes what begins so for a formula; the rules are those of audit/output/escaping.py.
  const FORMULA = /^[\s']*[=+\-@\uff0b\uff0d\uff1d\uff20]/;

  function cell(value) {
    if (value === null) return "";
    if (typeof value !== "string") return String(value);
    const plain = shown(value.replaceAll("\r\n", "\n"));
    const safe = FORMULA.test(plain) && !/^[+-]?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]{1,3})?$/i.test(plain) ? `'${plain}` : plain;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  /** All rows of a query in a file of comma-separated values. */
  async function download(given) {
    const index = await load("index");
    const columns = columnsOf(given, index.kinds);
    const rows = await rowsOf(await ordered(parsed(given, index.kinds), index), columns, index.kinds);
    const lines = [columns, ...rows].map((row) => `${row.map(cell).join(",")}\n`);
    const href = URL.createObjectURL(new Blob(lines, { type: "text/csv" }));
    h("a", { href, download: "revisions.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  }

  async function refuse() {
    throw new Error(`writing ${NEEDS_PROGRAM}`);
  }

  Object.assign(Data, { source, download, put: refuse, isExported: true });
  return { put };
})();
