"use strict";

// Long texts: shown up to a length, the rest on demand, since a browser lays out a megabyte in one line very slowly.
const Texts = (() => {
  const FIRST = 12_000;
  const MORE = 100_000;

  /** Pieces cut so that the first ones together have at most `most` characters. */
  function cut(pieces, most) {
    const head = [];
    let room = most;
    for (const [index, piece] of pieces.entries()) {
      if (piece.text.length > room) {
        const end = /[\ud800-\udbff]/.test(piece.text[room - 1]) ? room + 1 : room; // a character is not cut in two
        head.push({ ...piece, text: piece.text.slice(0, end) });
        return [head, [{ ...piece, text: piece.text.slice(end) }, ...pieces.slice(index + 1)]];
      }
      head.push(piece);
      room -= piece.text.length;
    }
    return [head, []];
  }

  /**
   * A text that scrolls, by keyboard too.
   * pieces: [{text}] in order; make: what becomes of one, else its text; label: what it is.
   */
  function long(pieces, label, make = (piece) => piece.text) {
    const box = h("div.longtext", { tabindex: "0", role: "region", "aria-label": label });
    const button = h("button.more", { type: "button" });
    let rest = pieces;
    function add(most) {
      let head;
      [head, rest] = cut(rest, most);
      box.append(...head.map(make));
      const left = rest.reduce((sum, piece) => sum + piece.text.length, 0);
      button.textContent = `Show ${number(Math.min(MORE, left))} of ${number(left)} more characters`;
      button.hidden = !left;
    }
    button.addEventListener("click", () => add(MORE));
    add(FIRST);
    return rest.length ? h("div", box, button) : box;
  }

  return { long, plain: (text, label) => long([{ text }], label) };
})();
