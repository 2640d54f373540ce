"""Find out from raw records what the critic did.

For example::

    import audit

    audit.salience("data/runs", env="cartpole")

    with audit.open("data/runs") as store:
        audit.rates(store).df()
        store.revisions.filter("r0 > 400")

Every command of `audit` is a function of the same name (`audit import` is `import_logs`, and with `--guess`
`guess_mapping`), and takes the command's options as arguments. Its data come first: an open store, a path, or several
paths. What a command prints, its function returns: a `Table`, or an object of its own. What a command reports on
standard error while it works, such as problems in records and progress, the function reports there as well.

What is neither in `audit.__all__` nor in `audit.recorders` is private.
"""

from collector.system.lazy_names import attach as _attach

__getattr__, __dir__ = _attach(__name__, __file__)
