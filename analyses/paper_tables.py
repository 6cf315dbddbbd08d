"""Tables 1, 2, 3, 5 and 6 as one page: the paper's numbers, ours, their interval, the recipes.

    python analyses/paper_tables.py                                     what ships, results/small_data.csv
    python analyses/paper_tables.py runs/*/checkpoint.safetensors       and these
    python analyses/paper_tables.py --readme                            put the shipped ones into README.md, in place
    python analyses/paper_tables.py --decoders runs/decoder/checkpoint.safetensors     and this one, for table 3

The paper's numbers are in paper_values.csv; ours come from the headers of checkpoints and from results/small_data.csv,
and nothing is typed in by hand. The paper gives mean +- sd of three runs, against which a single run is judged by the
prediction interval mean +- t sd sqrt(1 + 1/3) = mean +- 4.97 sd (95 %).
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from csv_rows import read_rows
from papers_spread import judged
from readme_part import README, put_between
from recipe_sections import recipe_cells, recipe_section
from script import end_in_words, refuse_existing
from small_data_tables import NOT_RUN, Cells, by_seed, small_data_cells, small_data_runs

from dcnbio.model.checkpoint import Header, read_header
from dcnbio.model.loading import find_checkpoint, find_decoder, shipped_checkpoints, shipped_decoders
from dcnbio.model.network import build
from dcnbio.model.rows import ROWS, row_spec
from dcnbio.model.run_parts import earlier_parts
from dcnbio.model.spec import NetworkSpec
from dcnbio.probe.interval import accuracy_interval

HERE = Path(__file__).parent
TABLES = {
    "1": "Table 1. CIFAR-10, all training images",
    "2": "Table 2. Few images per class",
    "3": "Table 3. Reconstruction",
    "5": "Table 5. Filters that depend on time",
    "6": "Table 6. ODE-Net with T = 2 and CELU",
}
HEADER = (
    "| network | condition | measure | paper | ours | 95 % interval | against the paper | recipe | command | minutes |"
)
RECIPES_LEAD = """Every setting in which a training was not the paper's (`analyses/recipes/paper.toml`), part by part
where it went on from another, and the command that each part was begun with."""
BEGIN = "<!-- the paper's tables: made by python analyses/paper_tables.py --readme -->"
END = "<!-- end of the paper's tables -->"


@dataclass(frozen=True)
class Trained:
    """A checkpoint's header with its file's name."""

    name: str
    header: Header

    @property
    def spec(self) -> dict[str, Any]:
        """What was trained."""
        return self.header.spec


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="*", help="besides the shipped ones")
    parser.add_argument("--decoders", nargs="*", default=[], help="for table 3, besides the shipped ones")
    parser.add_argument("--small-data", type=Path, default=HERE / "results" / "small_data.csv")
    parser.add_argument("--out", type=Path, help="a .md file; printed if left out")
    parser.add_argument("--overwrite", action="store_true")
    parser.add_argument("--readme", action="store_true", help="put the tables into README.md, between its two marks")
    return parser.parse_args()


def variant(row: dict[str, str]) -> tuple[float | None, str | None]:
    """Read T and activation of table 6's conditions."""
    _, _, words = row["condition"].partition("(T=")
    if not words:
        return None, None
    time, activation = words.rstrip(")").split()
    return float(time), activation.lower()


def matches(one: Trained, row: dict[str, str]) -> bool:
    """Say whether a checkpoint is of a row of the paper's tables: that network, trained on all of CIFAR-10."""
    if one.spec["row"] != row["model"] or one.header.metrics.get("test_accuracy") is None:
        return False
    usual = row_spec(row["model"])
    time, activation = variant(row)
    wanted = usual.with_overrides(
        integration_time=usual.integration_time if time is None else time, activation=activation or usual.activation
    )
    return NetworkSpec.from_dict(one.spec) == wanted and on_all_images(one.header)


def on_all_images(header: Header) -> bool:
    """Say whether a network was trained on all of CIFAR-10, from scales as the paper's, and tested on all of it.

    No part of the training may have had a few images per class, or begun with other scales. CIFAR-10 is known by its
    official layouts, and as the copy that the shipped networks were trained on.
    """
    parts = [header.recipe, *(part.get("recipe") or {} for part in earlier_parts(header.recipe))]
    if any(part.get("data", {}).get("per_class") is not None for part in parts):
        return False
    if any(part.get("initial_sigma", "paper") != "paper" for part in parts):
        return False
    if str(header.recipe.get("images_source", "")).startswith("CIFAR-10 "):
        return header.metrics.get("test_n") == 10_000
    images, copy = header.recipe.get("images") or {}, read_header(find_checkpoint("dcn-ode")).recipe["images"]
    return all(images.get(name) == copy[name] for name in ("train", "test"))


def accuracy_cells(row: dict[str, str], trained: list[Trained]) -> Cells:
    """Give ours for a network trained on all images, one line per checkpoint."""
    found = []
    for one in (one for one in trained if matches(one, row)):
        metrics = one.header.metrics
        n = int(metrics["test_n"])
        low, high = accuracy_interval(round(metrics["test_accuracy"] * n), n)
        value = 100 * metrics["test_accuracy"]
        interval = f"{100 * low:.1f} to {100 * high:.1f} ({n:,} test images, one seed)"
        ours = f"{value:.1f} ({one.name})", interval, judged(value, row)
        found.append((*ours, *recipe_cells(one.name, one.header)))
    return found or [NOT_RUN]


def reconstruction_cells(row: dict[str, str], decoders: list[Trained]) -> Cells:
    """Give 1,000 x the error of decoders whose output is rescaled by batch, as the paper's is; else as it is."""
    found = []
    for one in (one for one in decoders if one.spec["row"] == row["model"]):
        metrics = one.header.metrics
        rescaled, plain = metrics.get("test_rescaled_mse"), metrics.get("test_mse")
        if rescaled is not None:
            n, batches = metrics["test_n"], metrics["test_batches"]
            shown, value = f"{1000 * rescaled:.1f} ({one.name})", 1000 * rescaled
            spread = (
                f"none: the mean of {batches:,} batches, each rescaled by its extremes ({n:,} test images, one seed)"
            )
            said = f"{judged(value, row)}, if its unit is 1,000 x MSE of the rescaled output"
        elif plain is not None:
            shown, spread = f"{1000 * plain:.1f} ({one.name})", "not recorded"
            said = "another unit: 1,000 x MSE of the output as it is"
        else:
            continue
        found.append((shown, spread, said, *recipe_cells(one.name, one.header)))
    return found or [NOT_RUN]


def cells(row: dict[str, str], trained: list[Trained], decoders: list[Trained], runs: list[dict[str, str]]) -> Cells:
    """Give ours for one number of the paper's."""
    if row["metric"] == "trainable parameters":
        count = sum(p.numel() for p in build(row["model"]).parameters())
        same = abs(count - float(row["mean"])) < 500
        return [(f"{count:,}", "exact", "the same to the printed digits" if same else "differs", "", "", "")]
    if row["model"] not in ROWS:
        return [("not ours to run", "", "", "", "", "")]
    if row["table"] == "2":
        return small_data_cells(row, runs)
    return reconstruction_cells(row, decoders) if row["table"] == "3" else accuracy_cells(row, trained)


def page(trained: list[Trained], decoders: list[Trained], runs: list[dict[str, str]]) -> str:
    """Lay out all tables."""
    papers = read_rows(HERE / "paper_values.csv")
    out = ["# The paper's tables, and ours", "", "Made by `python analyses/paper_tables.py`; see there."]
    for table, title in TABLES.items():
        out += ["", f"## {title}", "", HEADER, "|---" * 10 + "|"]
        for row in (row for row in papers if row["table"] == table):
            spread = f" +- {row['sd']}" if row["sd"] else ""
            for ours in cells(row, trained, decoders, runs):
                line = [row["model"], row["condition"], row["metric"], row["mean"] + spread, *ours]
                out.append(f"| {' | '.join(line)} |")
        out += by_seed(runs) if table == "2" else []
    out += ["", "## Recipes of these networks", "", RECIPES_LEAD]
    for one in (*trained, *decoders):
        out += recipe_section(one.name, one.header)
    return "\n".join(out) + "\n"


def into_readme(text: str, tables: str) -> str:
    """Put the tables between the two marks of a text, in place of what is there; titles go down a level."""
    body = tables.split("\n", 3)[3] if tables else ""
    return put_between(text, BEGIN, END, re.sub(r"(?m)^(##+) ", r"#\1 ", body))


def shipped_networks() -> list[Trained]:
    """Read the headers of the trained networks that ship."""
    return [Trained(str(name), read_header(find_checkpoint(name))) for name in shipped_checkpoints()]


def shipped_reconstructions() -> list[Trained]:
    """Read the headers of the decoders that ship."""
    return [Trained(name, read_header(find_decoder(name))) for name in shipped_decoders()]


def main() -> None:
    chosen = options()
    if chosen.readme:
        runs = small_data_runs(chosen.small_data)
        tables = page(shipped_networks(), shipped_reconstructions(), runs)
        README.write_text(into_readme(README.read_text(encoding="utf-8"), tables), encoding="utf-8")
        return
    refuse_existing(chosen.out, chosen.overwrite)
    trained = shipped_networks()
    trained += [Trained(Path(name).parent.name or name, read_header(Path(name))) for name in chosen.checkpoints]
    decoders = shipped_reconstructions()
    decoders += [Trained(Path(name).parent.name or name, read_header(Path(name))) for name in chosen.decoders]
    runs = small_data_runs(chosen.small_data)
    text = page(trained, decoders, runs)
    if chosen.out:
        chosen.out.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    end_in_words(main)
