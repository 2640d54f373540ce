"""Reports on critics behind a server whose motives nobody told the audit: no false cause, and the right sentence."""

from __future__ import annotations

import pytest

import audit
from tests.audit.interventions.critics_server import (
    Critic,
    CriticsServer,
    anyone,
    called,
    each_in,
    headings,
    length,
    nothing,
    printed,
    shown,
    wording,
)
from tests.audit.interventions.planned import plan, recorded, run

pytestmark = pytest.mark.slow

FRAMES = {"wording", "length"}
"""A longer frame is another wording as well."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    for env in ("inverteddoublependulum", "mountaincarcontinuous"):
        recorded(folder / "runs", env, runs=6, iterations=12)
    return folder / "runs"


@pytest.fixture
def asked(data, tmp_path):
    """Asks a critic all calls of a plan; gives the sentences of its report, and the verdicts on what was tested."""

    def ask(critic, *, only=None, fails=None):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        server = CriticsServer()
        try:
            server.critics["planted"] = Critic()
            made = plan(data, path, "--preset", "standard", "--units", 60, *server.options("planted"),
                        "--permutations", 999, backend="openai")  # fmt: skip
            seeds = {call: made.call_seed(call) for call in made.calls()}
            chosen = {} if only is None else {"only": {seed for call, seed in seeds.items() if only(made, call.unit)}}
            if fails is not None:
                chosen = {"fails": {seed for call, seed in seeds.items() if call.arm == fails}}
            server.critics["planted"] = critic(**chosen)
            result = run(path, "--concurrency", 16)
            assert result.exit_code == 0, result.stderr
        finally:
            server.close()
        report = audit.intervene_report(path)
        verdicts = {row["name"]: row["verdict"] for row in report if row["outcome"] == "share"}
        return str(report), {name for name, verdict in verdicts.items() if verdict == "moves it"}

    return ask


@pytest.mark.parametrize(
    ("rule", "rest", "cause"),
    [
        (called("best"), anyone, {"called best"}),
        # It follows no rollout that is shown alone, without a label, so that there are no shares.
        (called("worst", nothing), nothing, {"called worst", "names of rollouts"}),
        (shown(0), anyone, {"shown first"}),
        (printed(1), anyone, {"median printed return"}),
        (each_in(0.85, printed(0), shown(0)), anyone, {"lowest printed return", "shown first"}),
        (headings, anyone, {"order of headings"}),
        (length, anyone, FRAMES),
        (wording, anyone, FRAMES),
        (nothing, nothing, set()),
    ],
    ids=["called best", "only labels", "first", "median", "lowest and first", "headings", "length", "wording", "none"],
)
def test_what_moves_a_critic_is_found_and_nothing_else(asked, rule, rest, cause):
    text, movers = asked(lambda **chosen: Critic(rule, rest=rest, **chosen))
    assert movers <= cause
    assert bool(movers) == bool(cause)
    assert {"lowest printed return"} & cause <= movers
    headline = text.partition("What moves this critic:")[2].split("\n- ")[1]
    assert "No verdict" not in headline


def test_a_fifth_of_prompts_and_one_run_are_stated(asked):
    text, movers = asked(lambda **chosen: Critic(called("worst"), **chosen), only=lambda _, unit: unit % 5 == 0)
    assert movers <= {"called worst"}
    if movers:
        assert "prompts differ: about" in text
    text, movers = asked(
        lambda **chosen: Critic(called("worst"), **chosen),
        only=lambda made, unit: made.units[unit].cluster == made.units[0].cluster,
    )
    assert movers <= {"called worst"}
    if movers:
        assert "one run alone follows it" in text


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
def test_refusals_in_one_arm_are_no_cause(asked, rate):
    text, movers = asked(lambda **chosen: Critic(anyone, rate=rate, how="refuses", **chosen), fails="E0")
    assert not movers
    assert "No verdict" not in text
