"""Names as people type them."""

from __future__ import annotations

from collector.system.naming import meant

IDS = ("threetraj", "propsplus", "props", "near_optimal_break", "a-b", "a_b", "Straße")
CALLED = {"propsplus": "ProPS+", "threetraj": "ThreeTraj"}
MEANT = {
    "threetraj": "threetraj",
    "ThreeTraj": "threetraj",
    "Three-Traj": "threetraj",
    "three traj": "threetraj",
    "ProPS": "props",
    "props+": "propsplus",
    "Near\u2011Optimal\u00a0Break": "near_optimal_break",
    "STRASSE": "Straße",
    # Itself where others are alike, and as it is where it stands for several or for none.
    "a_b": "a_b",
    "A B": "A B",
    "four": "four",
    "-": "-",
}


def test_a_name_stands_for_the_only_id_that_is_written_alike_or_called_so():
    assert {given: meant(given, IDS, CALLED) for given in MEANT} == MEANT
