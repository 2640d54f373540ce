"""Calls in flight are shared among clients."""

from contextlib import ExitStack

from collector.llm.clients import CALLS_EACH, Clients


def test_a_client_is_made_when_the_others_have_their_hands_full():
    made = []
    clients = Clients(lambda: made.append(None) or len(made))
    assert made == [None]  # the first at once, so that its errors come early
    with ExitStack() as calls:
        used = [calls.enter_context(clients.one()) for _ in range(2 * CALLS_EACH + 1)]
        assert [used.count(client) for client in (1, 2, 3)] == [CALLS_EACH, CALLS_EACH, 1]
    with clients.one() as again:
        assert again == 1
    assert len(made) == 3
