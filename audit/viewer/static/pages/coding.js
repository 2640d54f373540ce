"use strict";

// Coding: a coder's rows of the sheet, one at a time, by keys; each answer is written into the file at once. What is
// shown is what the coding guide asks for and nothing else, so that coders stay blind.
(() => {
  const { columnKeys, keyOfCode, nameOfCode } = CodingKeys;

  // Never from what Data keeps: the file changes.
  function read(what) {
    Data.forget("coding");
    return Data.get(`coding/${what}`);
  }

  async function render(main) {
    let sheet = await read("sheet");
    if (sheet.file === null) {
      main.append(
        h("h1", {}, "Coding"),
        h("p", {}, "No file of labels was named. Draw a sheet, then start the viewer with it:"),
        h("pre.coding-text", { tabindex: "0" }, "audit sample DIR --n 100 --coders A,B > labels.csv\naudit view DIR --labels labels.csv --coder A"),
      );
      return undefined;
    }

    const { columns } = sheet;
    const keys = columnKeys(columns.map(({ name }) => name));
    const undoable = [];
    const unsaved = [];
    const drafts = new Map();
    let [at, column, wholeGuide, failed, queue] = [0, 0, false, false, Promise.resolve()];

    const heading = h("h1", { tabindex: "-1" });
    const bar = h("progress", { "aria-label": "Answers coded" });
    const status = h("p.coding-status", { role: "status" });
    const alert = h("div.coding-alert", { role: "alert" });
    const finished = h("p.coding-finished");
    const reading = h("section.coding-reading", { "aria-label": "What the critic saw and wrote" });
    const panel = h("section.coding-codes", { "aria-label": "Codes" });
    const guide = h("section.coding-guide", { "aria-label": "Coding guide", tabindex: "0" });
    const help = h(
      "dialog.coding-help",
      { "aria-label": "Keys" },
      h("h2", {}, "Keys"),
      h("dl", {}, CodingKeys.KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
      h("button", { type: "button", onclick: () => help.close() }, "Close"),
    );

    const button = (text, key, onclick) => h("button", { type: "button", onclick }, text, " ", h("kbd", {}, key));
    const isOpen = (row) => !row.is_done;
    const rowAt = (line) => sheet.rows.find(({ row }) => row === line);
    const count = () => sheet.rows.filter((row) => row.is_done).length;

    function firstOpen(from) {
      const places = sheet.rows.map((_, place) => (from + place) % sheet.rows.length);
      return places.find((place) => isOpen(sheet.rows[place]));
    }

    function firstEmpty(row) {
      const place = columns.findIndex(({ name, codes }) => !codes.includes(row.codes[name]));
      return place < 0 ? 0 : place;
    }

    // What a key changes is changed in place: who walks through the page by Tab keeps the focus.
    function refresh() {
      const row = sheet.rows[at];
      heading.textContent = `Answer ${at + 1} of ${sheet.rows.length}`;
      bar.max = sheet.rows.length;
      bar.value = count();
      // Blind: the other pages show what coders must not see.
      document.documentElement.classList.toggle("is-coding", count() < sheet.rows.length);
      status.textContent = `${shown(sheet.file)}, coder ${shown(sheet.coder)}: ${count()} of ${sheet.rows.length} coded${row.is_done ? "; this one is done" : ""}${unsaved.length ? "; saving" : ""}`;
      for (const group of panel.querySelectorAll(".coding-column")) {
        const { name, codes } = columns[Number(group.dataset.place)];
        const isCurrent = Number(group.dataset.place) === column;
        group.classList.toggle("is-current", isCurrent);
        group.querySelector(".coding-other").textContent =
          row.codes[name] && !codes.includes(row.codes[name]) ? `holds ${shown(row.codes[name])}, which is not one of the codes` : "";
        for (const each of group.querySelectorAll("button")) {
          each.setAttribute("aria-pressed", String(codes[Number(each.dataset.place)] === row.codes[name]));
        }
      }
      const note = panel.querySelector("textarea");
      if (note && document.activeElement !== note) note.value = drafts.get(row.row) ?? row.note;
      const sections = sheet.guide.filter((each) => wholeGuide || each.columns.includes(columns[column].name));
      const wanted = `${wholeGuide} ${wholeGuide || sections.map(({ title }) => title).join()}`;
      if (guide.dataset.wanted !== wanted) {
        guide.dataset.wanted = wanted;
        guide.replaceChildren(...sections.flatMap(CodingGuide.section));
        guide.scrollTop = 0;
      }
    }

    function open(place) {
      at = place;
      const row = sheet.rows[at];
      const texts = sheet.reading[row.row];
      column = firstEmpty(row);
      reading.replaceChildren(
        ...[["Rollouts", texts.rollouts], ["Changes", texts.changes], ["Answer", texts.answer]].flatMap(([title, text]) => [
          h("h2", {}, title),
          h(`pre.coding-text.coding-${title.toLowerCase()}`, {}, shown(text)),
        ]),
      );
      refresh();
    }

    function go(place) {
      if (place === undefined || place < 0 || place >= sheet.rows.length) return;
      open(place);
      window.scrollTo(0, 0);
      heading.focus({ preventScroll: true });
    }

    function finish() {
      finished.textContent = count() < sheet.rows.length ? ""
        : "All answers are coded. How far coders agree is what audit validate prints.";
    }

    function fail(error) {
      failed = true;
      for (const [line, name, before] of unsaved.splice(0).reverse()) apply(rowAt(line), name, before);
      alert.replaceChildren(h("p", {}, shown(error.message)), button("Read the file again", "l", reload));
      refresh();
    }

    // As the server does it, so that the next key need not wait for the answer.
    function apply(row, name, value) {
      if (name === "note") row.note = value;
      else row.codes[name] = value;
      const given = columns.map((each) => row.codes[each.name]);
      row.is_done = columns.every(({ codes }, place) => codes.includes(given[place])) || (row.note !== "" && !given.some(Boolean));
    }

    async function reload() {
      await queue;
      try {
        const line = sheet.rows[at].row;
        const fresh = await read("sheet");
        if (fresh.columns.map(({ name }) => name).join() !== columns.map(({ name }) => name).join()) {
          throw new Error("The columns of the file are others now; load the page again.");
        }
        if (!fresh.rows.length) throw new Error(`The file has no row of ${fresh.coder} any more.`);
        sheet = fresh;
        failed = false;
        undoable.length = 0;
        alert.replaceChildren();
        open(Math.max(0, sheet.rows.findIndex(({ row }) => row === line)));
        finish();
      } catch (error) {
        fail(error);
      }
    }

    // One at a time and in order, each with the version of the file that the one before left; after a failure nothing
    // more is written until the file was read again.
    function save(row, name, value) {
      const wasDone = count() === sheet.rows.length;
      const line = row.row;
      unsaved.push([line, name, name === "note" ? row.note : row.codes[name]]);
      apply(row, name, value);
      refresh();
      queue = queue.then(async () => {
        if (failed) return;
        try {
          const result = await Data.put("coding/labels", { row: line, column: name, value, expected: sheet.version });
          unsaved.shift();
          sheet.version = result.version;
          if (name === "note" && drafts.get(line) === value) drafts.delete(line);
          if (unsaved.length) return;
          sheet.rows = result.rows;
          refresh();
          if (wasDone || count() === sheet.rows.length) finish();
        } catch (error) {
          fail(error);
        }
      });
    }

    function set(name, value) {
      const row = sheet.rows[at];
      const before = name === "note" ? row.note : row.codes[name];
      if (failed) return;
      if (before === value) {
        if (name === "note") drafts.delete(row.row);
        return;
      }
      undoable.push([row.row, name, before]);
      save(row, name, value);
    }

    function code(place) {
      const { name, codes } = columns[column];
      if (place >= codes.length) return;
      set(name, codes[place]);
      column = Math.min(column + 1, columns.length - 1);
      refresh();
    }

    function clear() {
      if (!sheet.rows[at].codes[columns[column].name]) column = Math.max(column - 1, 0);
      set(columns[column].name, "");
      refresh();
    }

    function undo() {
      if (failed || !undoable.length) return;
      const [line, name, before] = undoable.pop();
      drafts.delete(line);
      go(sheet.rows.findIndex(({ row }) => row === line));
      column = Math.max(0, columns.findIndex((each) => each.name === name));
      save(sheet.rows[at], name, before);
    }

    function group({ name, codes }, place) {
      const choose = (which) => () => {
        column = place;
        code(which);
      };
      return h(
        "div.coding-column",
        { role: "group", "aria-label": shown(name), "data-place": String(place) },
        h("span.coding-name", {}, shown(name), " ", keys[place] ? h("kbd", {}, keys[place]) : null),
        h(
          "span.coding-choices",
          {},
          codes.map((each, which) => {
            const text = [nameOfCode({ codes }, each), " ", h("kbd", {}, keyOfCode({ codes }, which))];
            return h("button", { type: "button", "data-place": String(which), "aria-pressed": "false", onclick: choose(which) }, text);
          }),
        ),
        h("span.coding-other", {}),
      );
    }

    function noteField() {
      const note = h("textarea#coding-note", {
        rows: "3",
        maxlength: "10000",
        oninput: () => drafts.set(sheet.rows[at].row, note.value),
        onchange: () => set("note", note.value),
      });
      return h("div.coding-note", {}, h("label", { for: "coding-note" }, "note ", h("kbd", {}, "n")), note);
    }

    const actions = {
      j: () => go(at + 1),
      ArrowRight: () => go(at + 1),
      k: () => go(at - 1),
      ArrowLeft: () => go(at - 1),
      Enter: () => go(firstOpen(at + 1)),
      u: undo,
      l: reload,
      n: () => panel.querySelector("textarea")?.focus(),
      g: () => {
        wholeGuide = !wholeGuide;
        refresh();
      },
      "?": () => help.showModal(),
      Backspace: clear,
    };

    function onKey(event) {
      if (!main.isConnected || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
      if (event.target.closest("textarea, input, select")) {
        if (event.key === "Escape") event.target.blur();
        return;
      }
      if (event.key === "Enter" && event.target.closest("button, a, summary")) return;
      const which = columns[column].codes.findIndex((_, place) => keyOfCode(columns[column], place) === event.key);
      const letter = event.key.length === 1 ? keys.indexOf(event.key) : -1;
      if (which >= 0) code(which);
      else if (letter >= 0) {
        column = letter;
        refresh();
      } else if (Object.hasOwn(actions, event.key)) actions[event.key]();
      else return;
      event.preventDefault();
    }

    function onLeave(event) {
      if (drafts.size || unsaved.length) event.preventDefault();
    }

    panel.append(...columns.map(group), ...(sheet.has_note ? [noteField()] : []));
    panel.append(
      h(
        "div.coding-buttons",
        {},
        button("Previous", "k", actions.k),
        button("Next", "j", actions.j),
        button("Next open", "Enter", actions.Enter),
        button("Undo", "u", undo),
        button("Guide", "g", actions.g),
        button("Keys", "?", actions["?"]),
      ),
    );
    main.append(
      h("div.coding-head", {}, heading, bar, status),
      alert,
      finished,
      h("div.coding-columns", {}, reading, h("div.coding-side", {}, panel, guide)),
      help,
    );
    open(firstOpen(0) ?? 0);
    finish();
    document.addEventListener("keydown", onKey);
    window.addEventListener("beforeunload", onLeave);
    return () => {
      document.removeEventListener("keydown", onKey);
      window.removeEventListener("beforeunload", onLeave);
      document.documentElement.classList.remove("is-coding");
    };
  }

  Pages.add({ name: "coding", title: "Coding", inNav: true, isServedOnly: true, render });
})();
