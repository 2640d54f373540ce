"""Experiments on the evidence: the same critic's prompt asked again with one thing about its rollouts changed."""
