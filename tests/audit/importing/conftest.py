import pytest

from tests.audit.importing.foreign import MAPPING, audit


@pytest.fixture
def importing(tmp_path):
    """Import some bytes with a mapping; the result, and where the records would be."""

    def run(content, mapping=MAPPING, *options, name="log.jsonl"):
        log, map_file, out = tmp_path / name, tmp_path / "map.toml", tmp_path / "out"
        log.write_bytes(content)
        map_file.write_text(mapping)
        return audit("import", "--map", map_file, log, "--out", out, *options), out

    return run
