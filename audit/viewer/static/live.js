"use strict";

// Revisions that were added while one reads are counted in a corner, and shown when one asks for them. Nothing moves
// under the reader's hand.
(() => {
  const PAUSE = 700;
  const line = h("p", { role: "status" });
  const show = h("button", { type: "button", hidden: true, onclick: open }, "Show them");
  const box = h("aside#live", { "aria-label": "New revisions" }, line, show);

  async function open() {
    show.disabled = true;
    line.textContent = "Opening the records anew …";
    try {
      take(await Data.asked("live?open=1"));
      Data.forget("");
      Names.take(await Data.get("about"));
      await Pages.show();
    } catch (error) {
      line.textContent = shown(error.message);
    }
    show.disabled = false;
  }

  function take(data) {
    const added = data.added ? plural(data.added, "new revision") : "Following: nothing new";
    const wanted = data.problem ? `Cannot follow: ${shown(data.problem)}` : added;
    if (line.textContent !== wanted) line.textContent = wanted;
    show.hidden = !data.added;
  }

  async function follow() {
    try {
      const data = await Data.asked("live");
      if (!data.followed) return;
      if (!box.isConnected) document.body.append(box);
      take(data);
    } catch {
      line.textContent = "The viewer has ended; start it again to go on.";
      show.hidden = true;
    }
    setTimeout(follow, document.hidden ? 5 * PAUSE : PAUSE);
  }
  addEventListener("load", follow);
})();
