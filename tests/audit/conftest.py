"""What the tests of the audit share."""

from __future__ import annotations

import pytest

from audit import store as store_module
from audit.models.database import Database
from tests.shared import opened_as


@pytest.fixture(scope="module")
def confined_once(opened_once):
    """As `opened_once`, for commands that confine what they open, too: these share a store of their own."""
    confined: dict[str, Database] = {}
    open_once, really_confine = store_module.open_store, store_module.Store.confine

    def open_store(paths, **given):
        store = open_once(paths, **given)
        store.opened_as = opened_as(paths, given)
        return store

    def confine(store):
        if store.opened_as not in confined:
            really_confine(store)
            confined[store.opened_as] = store._database
        store._database = confined[store.opened_as]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module, "open_store", open_store)
        patch.setattr(store_module.Store, "confine", confine)
        yield
