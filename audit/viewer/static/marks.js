"use strict";

// Stars, tags and notes on a revision, written at once into the file beside the records.
const Marks = (() => {
  function element(key, first) {
    let mark = first;
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
      Data.forget("tags");
      Data.forget("revision");
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
    return h("div.bar.marking", { role: "group", "aria-label": "Marks" }, star, tags, form, notes, problem);
  }

  return { element };
})();
