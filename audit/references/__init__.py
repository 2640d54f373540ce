"""Which rollouts does a text talk about?

shown = Shown.of(evidence["shown"], returns=initial["returns"], lengths=initial["lengths"])
for mention in resolve(answer, shown):
    print(mention.text, mention.labels, mention.rollouts)

Rules, limits and scores are in `docs/references.md`.
"""

from collector.system.lazy_names import attach as _attach

__getattr__, __dir__ = _attach(__name__, __file__)
