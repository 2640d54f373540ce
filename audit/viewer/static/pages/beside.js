"use strict";

// Two revisions side by side, and word by word what differs between their answers, texts and prompts.
(() => {
  const TAGS = { old: "del", new: "ins" };
  const KEYS = 5; // parts of a revision's key
  const AROUND = 300; // characters before and after a difference that both have

  /** A piece, or of a long one that both have its ends, so that what differs is seen. */
  function shortened(piece) {
    const left = piece.text.length - 2 * AROUND;
    if (piece.kind !== "same" || left < AROUND) return [piece];
    return [{ ...piece, text: piece.text.slice(0, AROUND) }, { kind: "left", text: `\n… ${number(left)} characters that both have …\n` }, { ...piece, text: piece.text.slice(-AROUND) }];
  }

  function facts(sides) {
    const names = Object.keys(sides[0]).filter((name) => name !== "key" && sides.some((side) => side[name] !== null));
    const said = (side, name) => (side[name] === null ? "" : /^p_/.test(name) ? pValue(side[name]) : typeof side[name] === "number" ? number(side[name]) : Names.value(name, side[name]));
    const heading = ({ key }) => h("th", { scope: "col" }, link(`${Names.value("env", key[1])} · ${Names.value("variant", key[2])} · run ${key[3]} · iteration ${key[4]}`, Query.address("revision", key)), h("span.muted", ` ${shown(key[0])}`));
    const element = h("table", h("caption", "The two"), h("thead", h("tr", h("td"), sides.map(heading))),
      h("tbody", names.map((name) => h("tr", h("th", { scope: "row", title: Names.meaning(name) }, Names.column(name)), sides.map((side) => h("td", said(side, name)))))));
    return Tables.scrolling(element, "The two revisions");
  }

  function text({ title, same, pieces }) {
    const one = (without) => Texts.long((same ? pieces : pieces.flatMap(shortened)).filter((piece) => piece.kind !== without), `${title} of ${without === "new" ? "the first" : "the second"}`, (piece) => (TAGS[piece.kind] ? h(TAGS[piece.kind], piece.text) : piece.kind === "left" ? h("span.muted", piece.text) : piece.text));
    if (same) return h("details", h("summary", `${title}: the same`), one("new"));
    const isApart = pieces.every((piece) => piece.kind !== "same");
    return h("details", { open: title !== "Prompt" }, h("summary", h("strong", title)), isApart ? h("p.muted", "No word that both have is told apart: there is none, or the texts are too long for it.") : null, h("div.sides", h("div", one("new")), h("div", one("old"))));
  }

  Pages.add({
    name: "beside",
    title: "Side by side",
    isServedOnly: true,
    async render(main, { parts }) {
      const [one, other] = [parts.slice(0, KEYS), parts.slice(KEYS)].map((key) => key.map(encodeURIComponent).join("/"));
      const data = await Data.get(`beside/${one}/with/${other}`);
      main.append(h("h1", "Two revisions side by side"),
        h("p.muted", "What only the first one has is marked in its column, what only the second one has in the other."),
        facts(data.sides), ...data.texts.map(text));
    },
  });
})();
