"""The paper's whole grid: what it consists of, what it costs, and its collection part by part."""
