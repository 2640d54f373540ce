"use strict";

// An exported folder answers its pages itself, from script files in data/ that are loaded when they are needed: the
// overview, runs, and all revisions in pages and in the order of one column. Filters, searches and facets need the server.
const Exported = (() => {
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

  /** The place of a value in a list of chunks, by the number of the first value in each. */
  async function item(name, starts, number) {
    const chunk = starts.findLastIndex((start) => start <= number);
    return (await load(`${name}-${chunk}`))[number - starts[chunk]];
  }

  async function columns(names) {
    const { kinds } = await load("index");
    for (const name of names) if (!Object.hasOwn(kinds, name)) throw new Error(`no column '${name}'`);
    return Promise.all(names.map((name) => load(`column-${name}`)));
  }

  /** The numbers of all revisions, in the order of the first column to sort by. */
  async function ordered(query) {
    const [sort] = (query.get("sort") || "").split(",");
    const [values] = await columns([sort.replace(/^-/, "") || KEY[0]]);
    const numbers = d3.range(values.length);
    return sort ? Tables.sorted(numbers, (each) => values[each], sort[0] === "-") : numbers;
  }

  async function rowsOf(numbers, names) {
    const values = await columns(names);
    return numbers.map((each) => values.map((column) => column[each]));
  }

  /** The place of what has a key, whose parts are texts in an address. */
  function found(keys, parts, error) {
    const number = keys.findIndex((key) => key.every((part, each) => String(part) === parts[each]));
    if (number < 0) throw new Error(error);
    return number;
  }

  const ANSWERS = {
    async revisions(_, query) {
      const page = Number(query.get("page") || 1);
      if (!(Number.isInteger(page) && page > 0)) throw new Error(`page '${query.get("page")}': give a whole number from 1`);
      const names = [...new Set([...KEY, ...(query.get("columns") || "").split(",").filter(Boolean)])];
      const numbers = await ordered(query);
      const size = Names.about.page;
      return { total: numbers.length, page, columns: names, rows: await rowsOf(numbers.slice((page - 1) * size, page * size), names) };
    },

    async revision(parts, query) {
      const numbers = await ordered(query);
      const keys = await rowsOf(d3.range(numbers.length), KEY);
      const number = found(keys, parts, `no revision ${parts.join(" ")}: no such iteration, or it has no revised candidate`);
      const place = numbers.indexOf(number);
      const [before, after] = [place - 1, place + 1].map((each) => keys[numbers[each]] ?? null);
      // Codes and experiments are in files of their own, and not exported.
      const more = { labels: [], units: [], place: place + 1, among: numbers.length, before, after };
      return { ...(await item("details", (await load("index")).details, number)), ...more };
    },

    async run(parts) {
      const index = await load("index");
      return item("run", index.runs, found(index.run_keys, parts, `no run ${parts.join(" ")}`));
    },
  };

  async function source(path, query) {
    const [name, ...parts] = path.split("/").map(decodeURIComponent);
    if ((await load("index")).whole.includes(path)) return load(path);
    return ANSWERS[name](parts, query || new URLSearchParams());
  }

  const notice = "This is an exported folder: to filter or search revisions, to compare and to replay, run audit view on the records.";
  Object.assign(Data, { source, notice, isExported: true });
  return { put };
})();
