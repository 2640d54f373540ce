"""Texts with their mentions marked."""

from __future__ import annotations

from audit.references import mark, resolve
from audit.references.marking import meaning
from tests.audit.references.evidence import LAKE, POLE, UNNUMBERED

TEXT = "The **worst** rollout is a fluke; see rollout 11 & <b>the best one</b>."


def test_plain():
    marked = mark(TEXT, resolve(TEXT, POLE))
    assert marked == (
        "The **[worst** rollout]{worst 17} is a fluke; see [rollout 11]{unresolved} & <b>the [best one]{best 0}</b>."
    )


def test_terminal():
    marked = mark("rollout 17 tips", resolve("rollout 17 tips", POLE), "terminal")
    assert marked == "\x1b[1;4mrollout 17\x1b[0m\x1b[2m{worst 17}\x1b[0m tips"


def test_markdown_shows_the_markup_of_the_text_and_does_not_follow_it():
    marked = mark(TEXT, resolve(TEXT, POLE), "markdown")
    assert marked == (
        "The \\*\\***\\[worst\\*\\* rollout\\]**{worst 17} is a fluke; see **\\[rollout 11\\]**{unresolved}"
        " &amp; &lt;b\\&gt;the **\\[best one\\]**{best 0}&lt;/b\\&gt;."
    )


def test_html_shows_the_markup_of_the_text_and_does_not_follow_it():
    marked = mark(TEXT, resolve(TEXT, POLE), "html")
    assert marked == (
        "The **<mark>worst** rollout</mark><sub>{worst 17}</sub> is a fluke; see "
        "<mark>rollout 11</mark><sub>{unresolved}</sub> &amp; &lt;b&gt;the <mark>best one</mark><sub>{best 0}</sub>"
        "&lt;/b&gt;."
    )
    assert mark("<script src='x'>\x1b[2J\u202e", [], "html") == "&lt;script src=&#x27;x&#x27;&gt;\\x1b[2J\\u202e"


def test_without_mentions_the_text_stays_as_it_is():
    assert mark("Nothing here.", []) == "Nothing here."
    assert mark("", []) == ""


def test_what_a_mention_means_in_words():
    [both] = resolve("The worst rollout ends in a hole.", LAKE)
    assert meaning(both) == "worst median 4"
    [unknown] = resolve("Not the worst rollout.", UNNUMBERED)
    assert meaning(unknown) == "worst, negated"
