"""All results of units in results/: responses, interventions, and the comparison with macaque V1, of one network.

    python analyses/unit_responses.py                         the shipped dcn-ode; what is there is not made again
    python analyses/unit_responses.py --only responses_blocks_small responses_interventions
    python analyses/unit_responses.py runs/mine/checkpoint.safetensors --out results/mine --overwrite

| result | of what |
|---|---|
| responses_default | all units of block 1, default size, with an untrained twin |
| responses_blocks_small | 8 units of each of the blocks 1 to 3, small size, with an untrained twin |
| responses_interventions | sigma, time, norm and orders: 6 units of block 1 and accuracy of 50 images, with a twin |
| primate_NAME_default | units of block 1, of an untrained network and of ode-net, beside macaque V1 |

Each is a JSON file, as the command with --json prints it, and a page of text beside it, as it prints without. A result
is made again only with --overwrite, or where the network's weights or what is asked for are not those of the file.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from script import end_in_words
from tqdm import tqdm

from dcnbio.analysis.primate import analyze_primate
from dcnbio.analysis.responses.result import analyze_responses
from dcnbio.commands import analyze_primate as primate
from dcnbio.commands import analyze_responses as responses
from dcnbio.commands.output import plain
from dcnbio.commands.primate_report import report as primate_page
from dcnbio.commands.responses_report import report as responses_page
from dcnbio.model.loading import load
from dcnbio.model.network import build
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.weights import weights_id

RESULTS = Path(__file__).parent / "results"
SMALL = responses.HowMuch("small", units=8, growth=True)
INTERVENTIONS = ("sigma=1.5", "time=0", "norm=10", "orders=2")
RESPONSES = {
    "responses_default": responses.HowMuch("default"),
    "responses_blocks_small": replace(SMALL, blocks="1,2,3"),
    "responses_interventions": replace(SMALL, units=6, growth=False, limit=50, intervention=INTERVENTIONS),
}
PRIMATE = "primate_{}_default"


@dataclass(frozen=True)
class Result:
    """A result that is wanted.

    Attributes
    ----------
    name : str
    made : dict
        Of which weights it is, and what was asked for: a file that says the same is not made again.
    work : callable
        Gives plain values, and the page.
    """

    name: str
    made: dict[str, Any]
    work: Callable[[], tuple[dict[str, Any], str]]


def responses_of(checkpoint: str, how_much: responses.HowMuch) -> tuple[dict[str, Any], str]:
    """Measure units and what interventions change in them."""
    found = analyze_responses(responses.measured(checkpoint, None, how_much), how_much.seed)
    return responses.as_json(found), responses_page(found)


def primate_of(checkpoint: str, how_much: primate.HowMuch) -> tuple[dict[str, Any], str]:
    """Compare units with macaque V1."""
    found = analyze_primate(*primate.measured_networks(checkpoint, None, how_much), seed=how_much.seed)
    return primate.as_json(found), primate_page(found)


def wanted(checkpoint: str) -> list[Result]:
    """List all results of a network."""
    net = load(checkpoint)
    weights = weights_id(net.state_dict())

    def made(how_much: responses.HowMuch | primate.HowMuch) -> dict[str, Any]:
        return {"weights": weights, "asked": repr(how_much)}

    found = [
        Result(name, made(how_much), partial(responses_of, checkpoint, how_much))
        for name, how_much in RESPONSES.items()
    ]
    compared = primate.HowMuch()
    name = PRIMATE.format(Path(checkpoint).stem)
    about = {**made(compared), "beside_weights": beside_weights(net.spec, compared.seed)}
    return [*found, Result(name, about, partial(primate_of, checkpoint, compared))]


def beside_weights(spec: NetworkSpec, seed: int) -> dict[str, str]:
    """Name the networks that a comparison has beside it, on which it rests too, and give their weights."""
    control = primate.ode_net_control(spec.row)
    nets = {primate.UNTRAINED: build(spec, seed=seed)} | ({control: load(control)} if control else {})
    return {name: weights_id(net.state_dict()) for name, net in nets.items()}


def is_done(path: Path, made: dict[str, Any]) -> bool:
    """Say whether a file holds this result already."""
    if not path.exists():
        return False
    there = json.loads(path.read_text(encoding="utf-8"))
    return all(there.get(name) == value for name, value in made.items())


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", nargs="?", default="dcn-ode", help="a shipped name or a file")
    parser.add_argument("--only", nargs="+", metavar="RESULT", help="some results alone")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder")
    parser.add_argument("--overwrite", action="store_true", help="make again what is there")
    chosen = parser.parse_args()
    every = wanted(chosen.checkpoint)
    names = [one.name for one in every]
    unknown = sorted(set(chosen.only or ()) - set(names))
    if unknown:
        parser.error(f"--only is {unknown[0]}; results are {', '.join(names)}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    for one in tqdm([one for one in every if one.name in (chosen.only or names)], unit="result", desc="units"):
        path = chosen.out / f"{one.name}.json"
        if is_done(path, one.made) and not chosen.overwrite:
            tqdm.write(f"{path} is there", file=sys.stderr)
            continue
        found, page = one.work()
        # the page first: a JSON file says that both are there
        write(path.with_suffix(".txt"), page + "\n")
        write(path, json.dumps(plain({**found, **one.made}), indent=1, allow_nan=False) + "\n")
        print(f"{path} and {path.with_suffix('.txt').name} written", flush=True)


if __name__ == "__main__":
    end_in_words(main)
