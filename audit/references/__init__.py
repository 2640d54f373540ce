"""Which rollouts does a text talk about, and what was a revision made for?

shown = Shown.of(evidence["shown"], returns=initial["returns"], lengths=initial["lengths"])
for mention in resolve(answer, shown):
    print(mention.text, mention.labels, mention.rollouts)

Rules, limits and scores are in `docs/references.md`.
"""

from __future__ import annotations

from audit.output.escaping import visible
from audit.references.driver import Driver, driver
from audit.references.marking import mark
from audit.references.mention import Kind, Label, Mention, Target
from audit.references.resolving import discounts_worst, references_worst, resolve
from audit.references.shown import Shown

__all__ = [
    "Driver",
    "Kind",
    "Label",
    "Mention",
    "Shown",
    "Target",
    "discounts_worst",
    "driver",
    "mark",
    "references_worst",
    "resolve",
    "visible",
]
