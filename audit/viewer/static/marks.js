"use strict";

// Stars, tags and notes on a revision, written at once into the file beside the records.
const Marks = (() => {
  /** What was answered before a mark was changed. */
  function forget() {
    for (const path of ["tags", "revision"]) Data.forget(path);
  }

  let isUnsaved = () => false;
  addEventListener("beforeunload", (event) => {
    if (isUnsaved()) event.preventDefault(); // the browser asks
  });

  function element(key, first) {
    let mark = first;
    if (mark.why_not) return fixed(mark);
    const problem = h("span.error", { role: "alert" });
    const star = h("button#star", { type: "button", onclick: () => write({ star: !mark.star }) });
    const tags = h("ul.chips", { "aria-label": "Tags" });
    const input = h("input#tag", { type: "text", maxlength: "64", placeholder: "tag", "aria-label": "Add a tag" });
    const note = h("textarea#note", { rows: "2", maxlength: "10000", "aria-label": "Note", onchange: () => write({ note: note.value }) });
    const form = h("form", { onsubmit: (event) => {
      event.preventDefault();
      if (input.value.trim()) write({ tag: input.value.trim() });
      input.value = "";
    } }, input, h("button", { type: "submit" }, "Add (t)"));
    const notes = h("details", { open: Boolean(mark.note) }, h("summary", "Note (n)"), note);

    async function write(change) {
      try {
        mark = await Data.put("marks", { revision: key, ...change });
        problem.textContent = "";
      } catch (error) {
        problem.textContent = shown(error.message);
      }
      forget();
      fill();
    }

    function fill() {
      star.textContent = mark.star ? "★ starred (s)" : "☆ star (s)";
      star.setAttribute("aria-pressed", String(mark.star));
      tags.replaceChildren(...mark.tags.map((tag) => h("li", h("button", { type: "button", "aria-label": `Remove the tag ${tag}`, onclick: () => write({ tag, removed: true }) }, `${tag} ×`))));
      if (document.activeElement !== note) note.value = mark.note;
    }

    Pages.onKey("s", () => write({ star: !mark.star }));
    Pages.onKey("t", () => input.focus());
    Pages.onKey("n", () => {
      notes.open = true;
      note.focus();
    });
    fill();
    isUnsaved = () => note.isConnected && note.value !== (mark.note || "");
    return h("div.bar.marking", { role: "group", "aria-label": "Marks" }, star, tags, form, notes, problem);
  }

  /** Marks that cannot be changed, and why. */
  function fixed(mark) {
    const said = [mark.star ? "★ starred" : null, mark.tags.length ? `tags: ${mark.tags.join(", ")}` : null].filter(Boolean);
    return h("div.bar.marking", { role: "group", "aria-label": "Marks" }, said.length ? h("span", said.join(" · ")) : null,
      mark.note ? h("span.noted", `note: ${mark.note}`) : null, h("span.muted", `Stars, tags and notes cannot be changed: ${mark.why_not}`));
  }

  /** What a cell of the table has of them. */
  const brief = (mark) => (mark ? [mark.star ? h("span", { role: "img", "aria-label": "starred" }, "★") : null, ...mark.tags.map((tag) => h("span.tag", { title: tag }, tag)), mark.note ? h("span.muted", "note") : null] : []);

  return { element, brief, forget };
})();
