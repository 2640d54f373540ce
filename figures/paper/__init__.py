"""The paper's tables, made from records, with the published number beside each."""
