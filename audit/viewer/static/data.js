"use strict";

// Where the pages' data come from: the server, or the script files of an exported folder (export.js replaces `source`).
const Data = (() => {
  const kept = new Map();
  const MOST = 60;

  async function asked(path, options = {}) {
    const answer = await fetch(`api/${path}`, options);
    const result = await answer.json().catch(() => null);
    const reason = result?.error || (answer.status === 404 ? "nothing is at this address" : `the server answered ${answer.status}`);
    if (!answer.ok || result === null) throw Object.assign(new Error(reason), { status: answer.status, result: result || {} });
    return result;
  }

  const fetched = (path, query) => asked(`${path}?${query || ""}`);

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

  const put = (path, body) => asked(path, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

  return { source: fetched, asked, get, forget, put, isExported: false, notice: "" };
})();
