"""Put a trained network among those that ship, with its card, its curves, and the manifest written anew.

python analyses/ship_network.py runs/dcn-ode --name dcn-ode
python analyses/ship_network.py runs/dcn-ode --unfinished       the state alone, so that another machine can go on
python analyses/ship_network.py --untrained dcn-ode --seed 0    a control that was never trained
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

from dcnbio.images.manifest import write_manifest
from dcnbio.model.checkpoint import load_checkpoint, read_header, save_checkpoint
from dcnbio.model.network import build
from dcnbio.model.scales import initial_log2_sigma
from dcnbio.training.model_card import model_card

DATA = Path(__file__).parents[1] / "data"
CHECKPOINTS, UNFINISHED = DATA / "checkpoints", DATA / "unfinished_runs"
STATE = ("run.json", "state.safetensors", "metrics.csv")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?", help="the folder of a run of `dcnbio train`")
    parser.add_argument("--name", help="the name it ships under; its folder's name if left out")
    parser.add_argument("--unfinished", action="store_true", help="keep what is needed to go on with the run")
    parser.add_argument("--untrained", metavar="ROW")
    parser.add_argument("--seed", type=int, default=0, help="of an untrained network")
    return parser.parse_args()


def with_card(path: Path) -> None:
    """Write the card beside a network."""
    path.with_suffix(".md").write_text(model_card(path), encoding="utf-8")
    print(path)


def without_folders(text: str) -> str:
    """Leave of each absolute path its last part: where something lay on one machine says nothing on another."""
    return re.sub(r"(?<!\S)/\S*/([^/\s]+)", r"\1", text)


def keep_untrained(row: str, seed: int, name: str) -> None:
    """Ship a network as it is before training."""
    net, path = build(row, seed), CHECKPOINTS / f"{name}.safetensors"
    metrics = {"passes": 0, "finished": True, "seed": seed}
    save_checkpoint(net, path, overwrite=True, metrics=metrics, initial_log2_sigma=initial_log2_sigma(net))
    with_card(path)


def keep_unfinished(run: Path, name: str) -> None:
    """Keep the state of a run; `dcnbio train --resume` goes on from a copy of this folder."""
    folder = UNFINISHED / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in STATE:
        shutil.copy2(run / file, folder / file)
    print(folder)


def keep_trained(run: Path, name: str) -> None:
    """Ship a trained network; what was kept of its unfinished run is no longer needed."""
    path, own = CHECKPOINTS / f"{name}.safetensors", run / "checkpoint.safetensors"
    header = read_header(own)
    recipe = {
        **header.recipe,
        **{key: without_folders(header.recipe.get(key, "")) for key in ("command", "images_source")},
    }
    parts = {"metrics": header.metrics, "initial_log2_sigma": header.initial_log2_sigma, "source": header.source}
    save_checkpoint(load_checkpoint(own), path, overwrite=True, recipe=recipe, **parts)
    shutil.copy2(run / "metrics.csv", CHECKPOINTS / f"{name}.metrics.csv")
    shutil.rmtree(UNFINISHED / name, ignore_errors=True)
    with_card(path)


def main() -> None:
    chosen = options()
    if chosen.untrained:
        keep_untrained(chosen.untrained, chosen.seed, chosen.name or f"{chosen.untrained}-untrained")
    elif chosen.run is None:
        raise SystemExit("name the folder of a run, or --untrained ROW")
    elif chosen.unfinished:
        keep_unfinished(chosen.run, chosen.name or chosen.run.name)
    else:
        keep_trained(chosen.run, chosen.name or chosen.run.name)
    write_manifest(DATA)


if __name__ == "__main__":
    main()
