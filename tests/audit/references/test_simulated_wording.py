"""Every way in which the simulated critic names a rollout is read as what it names."""

from __future__ import annotations

import numpy as np
import pytest

from audit.references import resolve
from collector.llm.simulated import wording
from collector.llm.simulated.reading import Rollout
from tests.audit.references.evidence import EXAMPLE, LAKE, MEDIAN, POLE, PONG, SAME, SWIM

SHOWN = {"POLE": POLE, "PONG": PONG, "SWIM": SWIM, "LAKE": LAKE, "SAME": SAME, "MEDIAN": MEDIAN, "EXAMPLE": EXAMPLE}
NO_STATES = np.zeros((0, 1))


@pytest.mark.parametrize("name", SHOWN)
def test_what_it_names_is_found(name):
    shown = SHOWN[name]
    rng = np.random.default_rng(3)
    forms = set()
    for item in shown.rollouts:
        rollout = Rollout(item.label, item.rollout, item.return_, NO_STATES, NO_STATES, cut_off=False)
        target = shown.labelled(item.label)
        for _ in range(150):
            said = wording.mention(rollout, rng)
            forms.add(said.form)
            [mention] = resolve(f"params[0]: 1\n{said.sentence} I moved params[0] from 0 to 1.", shown)
            assert (mention.labels, mention.rollouts) == (target.labels, target.rollouts), said.sentence
    assert forms == set(wording.FORMS)


def test_where_it_names_none_none_is_found():
    rng = np.random.default_rng(3)
    assert [resolve(wording.no_mention(rng), POLE) for _ in range(50)] == [[]] * 50
