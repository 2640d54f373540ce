"use strict";

// Addresses: `#/revisions?env=cartpole&strict=true`. A query is a URLSearchParams, as audit/viewer/query.py reads it.
const Query = (() => {
  const RESERVED = new Set(["rows", "tag", "star", "q", "sort", "page", "columns", "facets", "by", "a", "b"]);

  /** The address of a page: its name, the parts of its path, and its query. */
  function address(name, parts = [], query = null) {
    const path = [name, ...parts.map((part) => encodeURIComponent(part))].join("/");
    const text = query ? String(query instanceof URLSearchParams ? query : fromFilter(query)) : "";
    return `#/${path}${text ? `?${text}` : ""}`;
  }

  /** The address of the revisions of a filter; an exported folder, which has no filters, only has that of all. */
  const revisions = (filter) => (Data.isExported && Object.keys(filter).length ? null : address("revisions", [], filter));

  /** A query from an object of columns with lists of values. */
  function fromFilter(filter) {
    const query = new URLSearchParams();
    for (const [name, values] of Object.entries(filter)) {
      for (const value of Array.isArray(values) ? values : [values]) query.append(name, value);
    }
    return query;
  }

  /** The page, the parts of its path and its query that an address names. */
  function read(hash) {
    const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [name, ...parts] = path.split("/").map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
    return { name: name || "overview", parts, query: new URLSearchParams(query) };
  }

  /** A copy with changes: null removes a name, a list appends each of its values. */
  function changed(query, changes) {
    const copy = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
      copy.delete(name);
      for (const each of Array.isArray(value) ? value : value === null ? [] : [value]) copy.append(name, each);
    }
    return copy;
  }

  /** The filters alone: what decides which revisions there are, beside the search. */
  function filters(query) {
    return [...new URLSearchParams(query)].filter(([name]) => !RESERVED.has(name));
  }

  /** What decides which revisions there are and their order. */
  function selection(query) {
    const kept = new URLSearchParams(Data.isExported ? [] : filters(query));
    if (!Data.isExported) for (const name of ["tag", "rows"]) for (const value of query.getAll(name)) kept.append(name, value);
    for (const name of Data.isExported ? ["sort"] : ["star", "q", "sort"]) if (query.get(name)) kept.set(name, query.get(name));
    return kept;
  }

  return { RESERVED, address, changed, filters, fromFilter, read, revisions, selection };
})();
