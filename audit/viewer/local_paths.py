"""What an exported folder calls the records: by the name of their folder, not by where that is on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from audit.records.locating import label_of


def without_local_paths(paths: Sequence[str | Path]) -> Callable[[Any], Any]:
    """A function that leaves only the last part of some paths in all texts of a value.

    Args:
        paths: of the records, which their files' names begin with. Absolute paths of other files, such as a detector of
            the user's own below the home or the working directory, lose these.
    """
    local = [Path(label_of(path)) for path in paths]
    known = {str(way): path.name or "records" for path in local for way in (path, path.absolute(), path.resolve())}
    known = {way: name for way, name in known.items() if os.sep in way.rstrip(os.sep)}
    for folder in (Path.cwd(), Path.home()):
        known.setdefault(str(folder), folder.name)
    ordered = sorted((way for way in known if len(way) > 1), key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<![\w/]){re.escape(way)}(?![\w-])" for way in ordered))

    def hidden(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda found: known[found.group()], value)
        if isinstance(value, dict):
            return {key: hidden(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [hidden(each) for each in value]
        return value

    return hidden
