"""The libraries of the viewer's pages are the files that were taken, and the policy allows what they write."""

import hashlib
import re
import tomllib
from base64 import b64encode
from importlib import resources

from audit.viewer.server import HEADERS, PLOT_STYLE

VENDOR = resources.files("audit.viewer").joinpath("static", "vendor")
LIST = "VENDORED.toml"
FILES = {file["path"]: file for file in tomllib.loads(VENDOR.joinpath(LIST).read_text())["file"]}


def test_every_vendored_file_is_listed_and_is_the_one_that_was_taken() -> None:
    assert {file.name for file in VENDOR.iterdir()} == {LIST, *FILES}
    for path, entry in FILES.items():
        content = VENDOR.joinpath(path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == entry["sha256"], path
        if path.endswith(".js"):
            first = content.decode().splitlines()[0]
            assert entry["version"] in first, f"{first} is of another version than its entry"


def test_the_policy_allows_the_style_sheet_that_plot_writes_into_a_chart() -> None:
    code = VENDOR.joinpath("plot.umd.min.js").read_text()
    [template] = re.findall(r'append\("style"\)\.text\(`(:where\(\.\$\{\w+\}\) \{[^`]*)`', code)
    [name] = set(re.findall(r'return"(plot-[0-9a-f]+)"', code))
    written = re.sub(r"\$\{\w+\}", name, template.replace("\\n", "\n"))
    digest = b64encode(hashlib.sha256(written.encode()).digest()).decode()
    assert f"sha256-{digest}" == PLOT_STYLE
    assert f"style-src 'self' '{PLOT_STYLE}'" in HEADERS["content-security-policy"]
