"""Odd turns that messages once had, and that no editor would print, do not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from audit.output.names import model_name

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("audit", "collector", "figures", "stats")
ODD = re.compile(
    r"(?<!there )\bis no (?!longer)(?:\{|[a-z])|\bis none of\b|\bof no use\b|\bmeans nothing\b|\bin the place of\b"
    r"|^Who cites|\bnothing is known of\b|\bof what answers\b|\bat most so many\b|^Only so many\b"
)


def printed(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of a module, with braces for what is put into them, its docstrings aside."""
    every = list(ast.walk(tree))
    inner = {id(part) for node in every if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    inner |= {id(node.value) for node in every if isinstance(node, ast.Expr)}
    for node in every:
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.lineno, node.value


def test_no_message_has_an_odd_turn() -> None:
    odd = [
        (path.relative_to(ROOT).as_posix(), line, text)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in printed(ast.parse(path.read_text(encoding="utf-8")))
        if ODD.search(text)
    ]
    assert odd == []


def test_a_model_is_named_once() -> None:
    assert model_name("simulated-salient", "simulated") == "simulated-salient"
    assert model_name("gpt-oss:20b", "ollama") == "gpt-oss:20b (ollama)"
    assert [model_name("a", None), model_name(None, "ollama"), model_name(None, None)] == ["a", "ollama", ""]
