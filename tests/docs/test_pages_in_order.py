"""A page followed from top to bottom: no command writes what an earlier line wrote, and recordings it reads are made.

dcnbio refuses to write over a file, so a page that names an output twice stops its reader at the second.
"""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/how_to").glob("*.md"))]
MADE = (".zarr", ".nc", ".csv", ".mat", ".npy", ".safetensors")
PYTHON_WRITES = r"""(?:to_csv\(|save\(\w+, |out=|savefig\(|np\.savez\()"([^"]+)\""""
PYTHON_READS = r"""(?:open|load|load_images)\("([^"]+)\""""


def lines_of(text: str) -> list[tuple[str, str]]:
    """List the lines of a page's code, with the language each is in, as a reader meets them."""
    blocks = re.findall(r"^```(python|bash)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(language, line) for language, block in blocks for line in block.replace("\\\n", " ").splitlines()]


def of_command(line: str) -> tuple[list[str], list[str], bool]:
    """Give what a shell line of dcnbio reads, what it writes, and whether that may be there already."""
    words = shlex.split(line, comments=True)
    if "dcnbio" not in words or "$" in line:
        return [], [], False
    given = words[words.index("dcnbio") + 1 :]
    goes_on = bool({"--resume", "--overwrite", "--shard"} & set(given))
    outs = [value for option, value in itertools.pairwise(given) if option == "--out"]
    files = [word for word in given if word.endswith(MADE) and word not in outs]
    if given[:1] in (["export"], ["import"]):
        outs, files = [given[2]], [given[1]]
    return files, outs, goes_on


def of_python(line: str) -> tuple[list[str], list[str], bool]:
    """Give the same of a line of Python."""
    return re.findall(PYTHON_READS, line), re.findall(PYTHON_WRITES, line), "overwrite=True" in line


def faults(text: str) -> list[str]:
    """Say what stops a reader of a page."""
    written: set[str] = set()
    found = []
    for language, line in lines_of(text):
        reads, writes, goes_on = of_python(line) if language == "python" else of_command(line)
        missing = [name for name in reads if name.endswith((".zarr", ".nc")) and "://" not in name]
        found += [f"{name} is made nowhere before: {line}" for name in missing if name not in written]
        found += [f"{name} is there already: {line}" for name in writes if name in written and not goes_on]
        written.update(writes)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed(page: Path) -> None:
    assert faults(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("first", "second", "fault"),
    [
        ("dcnbio probe --out run.zarr", "dcnbio probe --out run.zarr", "run.zarr is there already"),
        ("dcnbio probe --out run.zarr", "dcnbio probe --out run.zarr --resume", ""),
        ("dcnbio import a.pth mine.safetensors", "dcnbio import b.pth mine.safetensors", "mine.safetensors is there"),
        ("dcnbio probe", "dcnbio export run.zarr unit.csv", "run.zarr is made nowhere before"),
        ("dcnbio figures a.png --out figures", "dcnbio figures b.png --out figures", "figures is there already"),
        ("dcnbio figures a.png --out figures", "dcnbio figures b.png --out others", ""),
    ],
)
def test_what_stops_a_reader_is_found(first: str, second: str, fault: str) -> None:
    found = faults(f"```bash\n{first}\n```\n\ntext\n\n```bash\n{second}\n```\n")
    assert ([one.startswith(fault) for one in found] == [True]) if fault else found == []


def test_python_before_a_command_counts() -> None:
    page = '```python\ncourse.to_csv("unit.csv")\n```\n```bash\ndcnbio export {} unit.csv\n```\n'
    assert [fault.partition(":")[0] for fault in faults(page.format("run.zarr"))] == [
        "run.zarr is made nowhere before",
        "unit.csv is there already",
    ]
