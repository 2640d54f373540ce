"use strict";

// Says that the index of answers is being made, as long as it is: below the page, so that nothing moves when it goes.
addEventListener("DOMContentLoaded", () => {
  const PAUSE = 2000; // milliseconds between two questions
  const TEXT = "An index of all answers is being made; until it is there, searches take longer.";
  const line = h("p#making", { role: "status" });
  document.body.append(line);

  async function look() {
    const isBeingMade = await Data.source("making").then((found) => found.index, () => false);
    if (!isBeingMade) {
      line.textContent = "";
      return;
    }
    if (!line.textContent) {
      document.body.classList.add("is-making"); // the room below the page stays when the line goes
      line.textContent = TEXT;
    }
    setTimeout(look, PAUSE);
  }

  look();
});
