"use strict";

// What a critic was shown beside what it answered: a mention and the rollouts that it means have one colour.
const RevisionAnswer = (() => {
  const KINDS = {
    label: "by its role or heading", index: "by its number", return: "by its return", paraphrase: "by a description",
    quote: "by words that only this one has",
  };
  const MOST_MENTIONS = 60;

  /** The role that gives a rollout its colour, if it has one. */
  const colour = (roles) => roles.find((role) => RevisionPictures.ROLES.includes(role)) || "other";

  /** A mention has the colour of the first rollout that it means; none where it could not be resolved. */
  function colourOf(mention, data) {
    if (mention.places.length) return colour(data.shown[mention.places[0]].roles);
    return mention.labels.length || mention.rollouts.length ? colour(mention.labels) : "";
  }

  /** What lights up together: each node with the places, among what was shown, of what it means. */
  function lights() {
    const nodes = [];
    const light = (places) => {
      for (const each of nodes) each.node.classList.toggle("lit", each.places.some((place) => places.includes(place)));
    };
    return (node, places) => {
      nodes.push({ node, places });
      for (const [on, off] of [["mouseenter", "mouseleave"], ["focusin", "focusout"]]) {
        node.addEventListener(on, () => light(places));
        node.addEventListener(off, () => light([]));
      }
      return node;
    };
  }

  /** What a mention points at: names of what was shown, its roles, and numbers of rollouts. */
  function target(mention, data) {
    const names = [...mention.places.map((place) => data.shown[place].name), ...mention.labels];
    const lower = names.map((name) => name.toLowerCase());
    const distinct = names.filter((_, index) => lower.indexOf(lower[index]) === index);
    const numbers = data.text ? [] : mention.rollouts.map((each) => `#${each}`);
    return [...distinct, ...numbers].join(", ") || mention.rollouts.map((each) => `#${each}`).join(", ") || "nothing that could be resolved";
  }

  function shownItems(data, lit) {
    if (!data.shown) {
      const isCritic = data.revised.source === "critic";
      return h("p.muted", isCritic ? "What the critic was shown is not recorded." : "No critic was shown anything: another answer of the search is the second proposal.");
    }
    if (!data.shown.length) return h("p.muted", `No ${data.text ? "example" : "rollout"} that was shown is recorded.`);
    const item = data.text ? "score" : "return";
    return h("ol.shown", data.shown.map((each, place) => {
      const facts = [
        each.return === null ? `${item} not recorded` : `${item} ${number(each.return)}`,
        each.length === null || each.length === undefined ? null : `${number(each.length)} steps`,
        each.rollout === null || each.rollout === undefined ? null : `${data.text ? "example" : "rollout"} #${each.rollout}`,
      ].filter(Boolean);
      const roles = each.roles.filter((role) => role !== each.name).map((role) => h(`span.${role}`, ` ${role}`));
      return lit(h(`li.${colour(each.roles)}`, h("strong", each.name), roles, h("span.muted", ` ${facts.join(" · ")}`),
        each.text ? example(each.text, `Text of ${each.name}`) : null, each.trajectory ? trajectory(each) : null), [place]);
    }));
  }

  /** The steps that the prompt has of a rollout; those that the answer names are marked, and the first is scrolled to. */
  function trajectory({ name, trajectory: { steps, total, marked } }) {
    const named = new Set(marked);
    const rows = () => steps.flatMap(([step, ...cells], place) => {
      const left = place ? step - steps[place - 1][0] - 1 : 0;
      return [left ? h("tr", h("td.muted", { colspan: "3" }, `${number(left)} steps are left out in the prompt`)) : null,
        h(named.has(step) ? "tr.named" : "tr", h("td.number", String(step)), cells.slice(0, 2).map((each) => h("td", shown(each))))];
    }).filter(Boolean);
    const body = h("tbody");
    const box = h("div.steps", { tabindex: "0", role: "region", "aria-label": `Steps of ${name}` },
      h("table", h("thead", h("tr", h("th.number", { scope: "col" }, "step"), h("th", { scope: "col" }, "state"), h("th", { scope: "col" }, "action"))), body));
    const what = named.size ? `, ${number(named.size)} named in the answer` : "";
    return h("details", { ontoggle: (event) => {
      if (!event.target.open || body.children.length) return;
      body.append(...rows());
      const first = body.querySelector(".named");
      if (first) box.scrollTop = first.offsetTop - box.clientHeight / 2;
    } }, h("summary", `${number(total)} steps as the critic read them${what}`), box, total > steps.length ? h("p.muted", `… and ${number(total - steps.length)} more in the prompt`) : null);
  }

  /** The parts of an example under its headings, such as inputs, outputs and feedback; folded where they are long. */
  function example(text, label) {
    const parts = text.trim().split(/^(#{1,6} .+)$/m);
    if (parts.length < 3) return folded(text, label);
    const sections = d3.range(1, parts.length, 2).map((place) => [parts[place].replace(/^#+ /, ""), parts[place + 1].trim()]);
    return h("dl.example", sections.map(([title, body]) => [h("dt", title), h("dd", body ? folded(body, `${title}, ${label}`) : "")]));
  }

  /** A text that is folded where it is long. */
  function folded(text, label) {
    const short = text.length < 400 && text.split("\n").length < 8;
    return short ? h("pre", text.trim()) : h("details", h("summary", `${text.trim().slice(0, 80).replace(/\s+/g, " ")}…`), Texts.plain(text, label));
  }

  function answer(data, lit, label = "Answer") {
    if (data.answer === null) {
      return h("p.muted", data.text && data.whole_answer ? "The answer gives no rationale beside the text." : "No answer is recorded.");
    }
    if (!data.answer.length || !data.answer.some((piece) => piece.text)) return h("p.muted", "The answer is empty.");
    const make = (piece) => {
      let node = document.createTextNode(piece.text);
      if (piece.mention !== undefined) {
        const mention = data.mentions[piece.mention];
        const marks = [colourOf(mention, data), mention.negated ? "negated" : ""];
        node = lit(h("mark", { class: marks.filter(Boolean).join(" "), "data-mention": String(piece.mention),
          title: [target(mention, data), `found ${KINDS[mention.kind]}`, mention.negated && "negated"].filter(Boolean).join("; ") }, node), mention.places);
      }
      return piece.leading ? h("span.leading", node) : node;
    };
    return Texts.long(data.answer, label, make);
  }

  function mentions(data, lit) {
    if (!data.answer) return null;
    if (!data.mentions.length) return h("p.muted", `The answer mentions no ${data.text ? "example" : "rollout"} that was shown.`);
    const go = (index) => {
      const mark = () => document.querySelector(`mark[data-mention="${index}"]`);
      for (let more; !mark() && (more = document.querySelector(".answered button.more:not([hidden])"));) more.click();
      mark()?.scrollIntoView({ block: "center" });
    };
    const rest = data.mentions.length - MOST_MENTIONS;
    return h("details", { open: data.mentions.length <= 8 }, h("summary", `${number(data.mentions.length)} mention${data.mentions.length === 1 ? "" : "s"}`),
      h("ol.mentions", data.mentions.slice(0, MOST_MENTIONS).map((each, index) => lit(h("li",
        h("button", { type: "button", onclick: () => go(index) }, each.text.length > 60 ? `${each.text.slice(0, 60)}…` : each.text),
        ` means ${target(each, data)}, found ${KINDS[each.kind]}`, each.negated ? h("strong", "; negated") : null), each.places))),
      rest > 0 ? h("p.muted", `… and ${number(rest)} more, marked in the answer`) : null);
  }

  /** Both sides: what was shown, and what was answered. */
  function sides(data) {
    const lit = lights();
    return [
      h("section.given", h("h2", data.text ? "Examples shown" : "Rollouts shown"), shownItems(data, lit)),
      h("section.answered", h("h2", data.text ? "Rationale" : "Answer"), answer(data, lit), mentions(data, lit), data.leading ? h("p", h("q", data.leading)) : null,
        data.thinking ? h("details", h("summary", `Thinking, ${number(data.thinking.length)} characters`), Texts.plain(data.thinking, "Thinking")) : null,
        data.whole_answer ? h("details", h("summary", "The whole answer"), Texts.plain(data.whole_answer, "The whole answer")) : null),
    ];
  }

  return { answer, colour, lights, sides };
})();
