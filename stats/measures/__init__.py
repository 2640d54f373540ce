"""Statistics of returns as pure functions of arrays and frames.

Those that the audit uses too are in `audit.measures`; until version 1.0 they are found here as well.
"""

from audit.measures import __path__ as _moved

__path__ += _moved
