"""Everything that runs a policy again: replay, verify, rescore, anchor."""
