"use strict";

// What the overview states first, in sentences: how many revisions regress, how many of these cite, and whether one goes
// with the other; each with its interval, and with what cannot be said.
const OverviewConclusion = (() => {
  const counted = (value, filter, given) => link(number(value), Query.revisions({ ...filter, ...given }));
  const runsOf = ({ runs }) => (runs === 1 ? "1 run" : `${number(runs)} runs`);

  /** The interval of a share, or why there is none or why it is of little use. */
  function interval(found) {
    if (found.low === null) return `no interval, as ${found.runs < 2 ? "there is only 1 run" : `all ${runsOf(found)} agree`}`;
    return `95% interval ${percent(found.low)} to ${percent(found.high)}, over ${runsOf(found)}${found.is_rough ? ", which are too few to rely on it" : ""}`;
  }

  const share = (found) => [h("strong", percent(found.pct)), ` (${interval(found)})`];

  function regressions({ regressions: found }, given) {
    if (!found.of) return "There are no revisions here.";
    return [counted(found.count, found.links.count, given), " of ", counted(found.of, found.links.of, given), Names.worded(" revisions lowered the return: "), share(found), "."];
  }

  /** Of regressions, those by the strict criterion; those that cite where it is not defined, since another item is asked about. */
  function salience(shares, { citing, others }, thing, given) {
    const found = shares.strict.of ? shares.strict : shares.citing_regressions;
    if (!citing && !others) return `No critic here was shown ${thing}, as far as is recorded: how often answers cite it, and whether that goes with regressions, is not known.`;
    if (!found.of) return `None of the ${number(citing + others)} revisions whose critic was shown ${thing} is a regression.`;
    return ["Of ", counted(found.of, found.links.of, given), ` regressions whose critic was shown ${thing}, `, counted(found.count, found.links.count, given),
      found === shares.strict ? " are salience regressions by the strict criterion: " : " have an answer that cites it: ", share(found), "."];
  }

  function association({ citing, others, points, low, high, runs, cells, is_rough: isRough }, thing) {
    const unknown = `It is not known whether answers that cite ${thing} go with regressions`;
    if (!citing && !others) return null;
    if (!citing || !others) return `${unknown}: ${citing ? "all of them do" : "none does"}.`;
    if (points === null) return `${unknown}: no task and method has both revisions whose answer does and revisions whose answer does not.`;
    const within = cells > 1 ? ", within the same condition, task and method," : "";
    const rate = [`: their rate of regressions less that of the others${within} is `, h("strong", `${withMinus(points.toFixed(1))} percentage points`)];
    if (low === null) return [unknown, rate, `, and ${runsOf({ runs })} give it no interval.`];
    const ends = ` (95% interval ${withMinus(low.toFixed(1))} to ${withMinus(high.toFixed(1))}, over ${runsOf({ runs })})`;
    if (isRough) return [unknown, rate, ends, ", and the runs are too few to rely on the interval."];
    if (low <= 0 && high >= 0) return [unknown, rate, ends, ", and may be 0."];
    return [`Answers that cite ${thing} go with ${points < 0 ? "fewer" : "more"} regressions`, rate, ends, ". That does not say that citing causes it."];
  }

  /** The sentences. given: the filters of the page, as an object of lists. */
  function element(found, given) {
    const about = Names.about.about;
    const thing = about === "worst" ? Names.worded("the worst rollout") : shown(about);
    const sentences = [regressions(found.shares, given), salience(found.shares, found.difference, thing, given), association(found.difference, thing)];
    return h("section#conclusion", { "aria-label": "In short" }, sentences.filter(Boolean).map((each) => h("p", each)));
  }

  return { element };
})();
