"use strict";

// How far coders agree, once all of them are done; until then how far each is.
const CodingAgreement = (() => {
  const percent = (value) => (value === null ? "–" : `${(100 * value).toFixed(0)}%`);
  const kappa = ({ kappa: value, kappa_low: low, kappa_high: high }) =>
    value === null ? "–" : value.toFixed(2) + (low === null ? "" : ` [${low.toFixed(2)}, ${high.toFixed(2)}]`);

  function table(caption, head, rows) {
    const heads = h("tr", head.map((name) => h("th", { scope: "col" }, name)));
    const body = rows.map((row) => h("tr", row.map((cell) => h("td", cell))));
    return Tables.scrolling(h("table", h("caption", caption), h("thead", heads), h("tbody", body)), caption);
  }

  function element({ coders, agreement: scores, disagreements }) {
    if (!scores) {
      const others = coders.map(({ coder, done, rows }) => `${shown(coder)}: ${done} of ${rows}`).join(", ");
      const why = coders.length < 2 ? "There is no second coder to compare with." : "Agreement is shown when all are done.";
      return h("p", {}, `Coded so far: ${others}. ${why}`);
    }
    const key = (row) => [row.condition, row.env, row.variant, row.run, row.iteration];
    return h(
      "div",
      {},
      table(
        "Agreement of the coders, all conditions together; κ with its 95% interval, as audit validate --pool has it",
        ["column", "code", "coders", "answers", "agree", "κ"],
        scores.map((row) => [
          shown(row.column),
          shown(row.code ?? ""),
          `${shown(row.coder)}, ${shown(row.detector.replace(/^coder /, ""))}`,
          String(row.n),
          percent(row.accuracy),
          kappa(row),
        ]),
      ),
      disagreements.length
        ? table(
            `Codes that differ: ${disagreements.length}`,
            ["revision", "column", "coder", "code", "other", "code"],
            disagreements.map((row) => [
              link(shown(key(row).join(" ")), `#/revision/${key(row).map(encodeURIComponent).join("/")}`),
              shown(row.column),
              shown(row.coder),
              shown(row.coded),
              shown(row.detector.replace(/^coder /, "")),
              shown(row.found),
            ]),
          )
        : h("p", {}, "The coders agree on every answer."),
    );
  }

  return { element };
})();
