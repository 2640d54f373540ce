"""Remedies: which change of evidence, instruction, answers or acceptance makes a critic's revisions do less harm."""
