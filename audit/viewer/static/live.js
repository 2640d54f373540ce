"use strict";

// What goes on while one reads: revisions that were added are counted in a corner, and shown when one asks for them, and
// a line below the page says that the index of answers is being made. Nothing moves under the reader's hand.
(() => {
  const PAUSE = 700;
  const box = h("aside#live", { "aria-label": "New revisions" });
  const line = h("p", { role: "status" });
  const show = h("button", { type: "button", hidden: true, onclick: open }, "Show them");
  const curves = h("div");
  const alarms = h("details", h("summary", "Alarms"), curves);
  const making = h("p#making", { role: "status" });
  document.body.append(making);
  let drawn = "";

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

  /** The wealth of both bets on a logarithmic scale, from 1/100 to at least 100, with the threshold. */
  function picture(data) {
    const [width, height] = [400, 100];
    const most = Math.max(100, ...data.alarms.flatMap((each) => each.curve));
    const y = d3.scaleLog().domain([0.01, most]).range([height - 4, 4]).clamp(true);
    const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
      .attr("aria-label", `Wealth after each revision; an alarm is raised at ${data.threshold}`);
    svg.append("line").attr("class", "limit").attr("x2", width).attr("y1", y(data.threshold)).attr("y2", y(data.threshold));
    svg.append("text").attr("x", 2).attr("y", y(data.threshold) - 3).text(`alarm at ${data.threshold}`);
    for (const each of data.alarms) {
      const x = d3.scaleLinear().domain([0, Math.max(1, each.curve.length - 1)]).range([0, width]);
      svg.append("path").attr("class", `wealth ${each.name}`).attr("d", d3.line((_, place) => x(place), (value) => y(Math.max(value, 0.01)))(each.curve));
    }
    return svg.node();
  }

  function take(data) {
    const text = `${number(data.added)} new revision${data.added === 1 ? "" : "s"}`;
    const wanted = data.problem ? `Cannot follow: ${shown(data.problem)}` : data.added ? text : "Following: nothing new";
    if (line.textContent !== wanted) line.textContent = wanted;
    show.hidden = !data.added;
    const state = JSON.stringify(data.alarms);
    if (state === drawn) return;
    drawn = state;
    const words = data.alarms.map((each) => h("p", h(`span.${each.name}`, `${each.name}: `), each.raised ? h("span.alarm", shown(each.sentence)) : `wealth ${number(each.wealth)}`));
    curves.replaceChildren(picture(data), ...words);
    if (data.alarms.some((each) => each.raised)) alarms.querySelector("summary").replaceChildren(h("span.alarm", "Alarm raised"));
  }

  async function follow() {
    try {
      const data = await Data.asked("live");
      const words = data.index ? "An index of all answers is being made; until it is there, searches take longer." : "";
      if (making.textContent !== words) {
        making.textContent = words;
        document.body.classList.add("is-making"); // the room below the page stays when the line goes
      }
      if (!data.followed && !data.index) return;
      if (data.followed && !box.isConnected) {
        box.append(line, show, alarms);
        document.body.append(box);
      }
      take(data);
    } catch {
      line.textContent = "The viewer has ended; start it again to go on.";
      show.hidden = true;
    }
    setTimeout(follow, document.hidden ? 5 * PAUSE : PAUSE);
  }
  addEventListener("load", follow);
})();
