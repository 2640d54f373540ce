"use strict";

// Where the pages' data come from: the server, or the script files of an exported folder (export.js replaces `source`).
const Data = (() => {
  const kept = new Map();
  const MOST = 60;

  async function fetched(path, query) {
    const text = query ? String(query) : "";
    const answer = await fetch(`api/${path}${text ? `?${text}` : ""}`);
    const body = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
    if (!answer.ok) throw new Error(body.error || `the server answered ${answer.status}`);
    return body;
  }

  /** What a path answers; asked once as long as it is among the last that were asked. */
  function get(path, query = null) {
    const key = `${path}?${query || ""}`;
    if (!kept.has(key)) {
      const answer = Data.source(path, query);
      kept.set(key, answer);
      answer.catch(() => kept.delete(key));
      if (kept.size > MOST) kept.delete(kept.keys().next().value);
    }
    return kept.get(key);
  }

  /** Forget answers whose path begins so: they have changed. */
  function forget(path) {
    for (const key of kept.keys()) if (key.startsWith(path)) kept.delete(key);
  }

  async function put(path, body) {
    const answer = await fetch(`api/${path}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const result = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
    if (!answer.ok) throw Object.assign(new Error(result.error || String(answer.status)), { status: answer.status, result });
    return result;
  }

  return { source: fetched, get, forget, put, isExported: false, notice: "" };
})();
