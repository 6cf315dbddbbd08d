"""The table of claims that README.md begins with: what the paper says, what was measured here, and its control.

    python analyses/findings.py              print it
    python analyses/findings.py --readme     put it into README.md, in place

findings.csv says which claims, in whose words the question is put, and what the paper reports; every number of ours
comes from a result file by the claim's own name, so nothing is typed in by hand and a claim that is no longer made is
an error. A result says of which weights it is; where those no longer ship under their name, its row says so.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path
from typing import Any

from csv_rows import read_rows
from readme_part import README, put_between
from script import end_in_words

from dcnbio.analysis.claim import word_mark
from dcnbio.commands.analyze_primate import UNTRAINED
from dcnbio.model.loading import load
from dcnbio.model.weights import weights_id

HERE = Path(__file__).parent
RESULTS = HERE / "results"
BEGIN = "<!-- the table of claims: made by python analyses/findings.py --readme -->"
END = "<!-- end of the table of claims -->"
HEADER = ("| question | paper | ours | 95 % interval | n | control | result |", "|---|---|---|---|---|---|---|")


@cache
def read(file: str) -> dict[str, Any]:
    """Read a result file."""
    return dict(json.loads((RESULTS / file).read_text(encoding="utf-8")))


@cache
def claims(file: str) -> dict[str, dict[str, Any]]:
    """Read a result's claims by their names; of a comparison with published data the effect is the estimate."""
    found = read(file)
    if "claims" in found:
        return {claim["name"]: claim for claim in found["claims"]}
    return {row["name"]: as_claim(row) for row in found["comparisons"]}


def as_claim(row: dict[str, Any]) -> dict[str, Any]:
    """Give a comparison with published data the keys of a claim; its verdict stands where a control would."""
    verdict = row["verdict"] or "no bound, so no verdict"
    return {**row, "estimate": row["effect"], "unit": "units", "n": row["n_model"], "control": {"name": verdict}}


def networks(file: str) -> dict[str, str]:
    """Give the first digits of the weights of every network that a result is of, by its name."""
    found = read(file)
    if "networks" in found:
        return {one["name"].split()[0]: short(one["weights"]) for one in found["networks"]}
    if "recordings" in found:
        return dict(one["network"].split() for one in found["recordings"])
    beside = {name: short(weights) for name, weights in found.get("beside_weights", {}).items() if name != UNTRAINED}
    return {found["network"]: short(found["weights"]), **beside}


def short(weights: str) -> str:
    """Give the first digits of an identity of weights, as recordings' labels have them."""
    return weights.removeprefix("sha256:")[:8]


@cache
def shipped(name: str) -> str:
    """Give the first digits of the weights that ship under a name."""
    return short(weights_id(load(name).state_dict()))


def outdated(file: str, claim: str) -> str:
    """Name the networks of a claim whose weights are not those that ship; nothing where all are."""
    known = networks(file)
    named = {name: weights for name, weights in known.items() if name in claim} or known
    old = [f"{name} {weights}" for name, weights in named.items() if shipped(name) != weights]
    return f", of {', '.join(old)}: not the weights that ship" if old else ""


def number(value: float | None, row: dict[str, str]) -> str:
    """Write a number as the table's row asks."""
    if value is None:
        return "none"
    scaled = float(value) * float(row["scale"] or 1)
    sign = "+" if row["signed"] else ""
    return f"{scaled:{sign}.{row['digits'] or 0}f}{row['unit']}"


def line(row: dict[str, str]) -> str:
    """Lay out one claim."""
    known = claims(row["file"])
    if row["claim"] not in known:
        raise SystemExit(f"findings.csv: {row['file']} has no claim {row['claim']!r}; its claims: {', '.join(known)}")
    claim = known[row["claim"]]
    interval = "-" if claim["interval"] is None else " to ".join(number(end, row) for end in claim["interval"])
    control = claim["control"] or {"name": "-"}
    found, other = (f"{word_mark(one.get('limit'))}{number(one.get('estimate'), row)}" for one in (claim, control))
    beside = f": {other}" if control.get("estimate") is not None else ""
    cells = [row["question"], row["paper"] or "-", found, interval]
    source = f"[file](results/{row['file']}){outdated(row['file'], row['claim'])}"
    cells += [f"{claim['n']} {claim['unit']}", f"{control['name']}{beside}", source]
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def table() -> str:
    """Lay out all claims."""
    return "\n".join([*HEADER, *(line(row) for row in read_rows(HERE / "findings.csv"))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readme", action="store_true", help="put the table into README.md, in place")
    if not parser.parse_args().readme:
        print(table())
        return
    README.write_text(put_between(README.read_text(encoding="utf-8"), BEGIN, END, table()), encoding="utf-8")


if __name__ == "__main__":
    end_in_words(main)
