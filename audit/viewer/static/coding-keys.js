"use strict";

// Which key means what while coding.
const CodingKeys = (() => {
  const KEYS = [
    ["1 0", "yes or no, where the column asks for it; then the next column"],
    ["1 to 9", "the code with that number, in other columns"],
    ["a letter at a column", "go to that column"],
    ["Backspace", "clear the code of the column, or of the one before if it has none"],
    ["n", "write a note; Escape ends it"],
    ["Enter", "next answer that is open"],
    ["j →", "next answer"],
    ["k ←", "previous answer"],
    ["u", "undo the last change, wherever it was"],
    ["g", "the whole guide, or the part for the column"],
    ["l", "read the file again"],
    ["?", "this list"],
  ];
  const RESERVED = "jknugl";

  // A key for each column: the first letter of its last word that is free, so w, m, b for the three mentions.
  function columnKeys(names) {
    const taken = new Set(RESERVED);
    return names.map((name) => {
      const words = name.toLowerCase().split("_").reverse();
      const letters = [...words.map((word) => word[0]), ...words.join("")];
      const key = letters.find((letter) => /^[a-z]$/.test(letter) && !taken.has(letter)) || "";
      taken.add(key);
      return key;
    });
  }

  const isYesOrNo = (column) => column.codes.join() === "1,0";
  const keyOfCode = (column, place) => (isYesOrNo(column) ? column.codes[place] : place < 9 ? String(place + 1) : "");
  const nameOfCode = (column, code) => (isYesOrNo(column) ? { 1: "yes", 0: "no" }[code] : shown(code));

  return { KEYS, columnKeys, keyOfCode, nameOfCode };
})();
