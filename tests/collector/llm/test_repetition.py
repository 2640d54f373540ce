from collector.llm.repetition import SHORTEST, TIMES, WINDOW, repeated_tail

LONGEST = "".join(f"{number:03}," for number in range(WINDOW // TIMES))[: WINDOW // TIMES]


LONG = "".join(chr(ord("a") + index % 26) * (index // 26 + 1) for index in range(100))
UNITS = {
    "abc " * 60: "abc ",
    "params[0]: 1\n" + "It then goes left. " * 20: "It then goes left. ",
    "x" * SHORTEST: "x",
    "x" * (SHORTEST - 1): None,
    "hello world " * 10: None,
    "0123456789" * TIMES: None,
    ", ".join(f"params[{index}]: 1" for index in range(200)): None,
    "": None,
    LONG * TIMES: f"{LONG[:59]}…",
    "abc " * 100 + "and then it ends well.": None,
}


def test_an_end_that_repeats_itself_is_found():
    assert {text: repeated_tail(text) for text in UNITS} == UNITS


def test_by_definition():
    """The shortest unit of any suffix that is long enough, tried one by one."""
    texts = ("ab" * 150 + "a", "aab" * 99, "abcabcab" * 50, "x" + "yz " * 70, "q" * WINDOW * 2, LONGEST * TIMES)
    for text in texts:
        seen = text[-WINDOW:]
        expected = min(
            (
                period
                for period in range(1, len(seen))
                if period + _shared(seen, period) >= max(SHORTEST, TIMES * period)
            ),
            default=None,
        )
        unit = repeated_tail(text)
        assert (unit is None) == (expected is None)
        assert expected is None or unit.rstrip("…") == text[-expected:][:59]


def _shared(text, period):
    count = 0
    while count < len(text) - period and text[-1 - count] == text[-1 - count - period]:
        count += 1
    return count
