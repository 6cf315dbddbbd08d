"""Put a trained network among those that ship, with its card, its curves, and the manifest written anew.

A run that trained a decoder is put among the decoders, if the network that it was trained on ships.

python analyses/ship_network.py runs/dcn-ode --name dcn-ode
python analyses/ship_network.py runs/dcn-ode-decoder
python analyses/ship_network.py runs/again --name dcn-ode --earlier runs/dcn-ode     and the curves of what came before
python analyses/ship_network.py runs/dcn-ode --unfinished       the state alone, so that another machine can go on
python analyses/ship_network.py --untrained dcn-ode --seed 0    a control that was never trained
python analyses/ship_network.py --again data/checkpoints/dcn-ode.safetensors     the header and card anew, same weights

The command in the header is the one that the run was begun with. Where a run recorded the one that went on with it, as
runs did once, that of its state among the unfinished runs is taken, or --command.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recorded_command import goes_on, passes_of_file
from script import end_in_words

from dcnbio.images.manifest import write_manifest
from dcnbio.model.checkpoint import Header, load_checkpoint, open_tensors, read_header, save_checkpoint
from dcnbio.model.checkpoint_kind import DECODER
from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint, save_decoder
from dcnbio.model.encoder_match import ENCODER_WEIGHTS
from dcnbio.model.network import build
from dcnbio.model.scales import initial_log2_sigma
from dcnbio.model.weights import weights_id
from dcnbio.training.decoder_card import decoder_card
from dcnbio.training.model_card import model_card
from dcnbio.training.recipe_differences import recorded_recipe
from dcnbio.training.run_folder import RunFolder

DATA = Path(__file__).parents[1] / "data"
CHECKPOINTS, DECODERS, UNFINISHED = DATA / "checkpoints", DATA / "decoders", DATA / "unfinished_runs"
STATE = ("run.json", "state.safetensors", "metrics.csv")


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?", help="the folder of a run of `dcnbio train`")
    parser.add_argument("--name", help="the name it ships under; its folder's name if left out")
    parser.add_argument(
        "--earlier", type=Path, nargs="+", default=[], help="runs, or their metrics, that it went on from, latest first"
    )
    parser.add_argument("--unfinished", action="store_true", help="keep what is needed to go on with the run")
    parser.add_argument("--untrained", metavar="ROW")
    parser.add_argument("--seed", type=int, default=0, help="of an untrained network")
    parser.add_argument("--again", type=Path, metavar="FILE", help="write header and card of what ships already anew")
    parser.add_argument("--command", help="that the run was begun with, in place of the recorded one")
    return parser.parse_args(arguments)


def with_card(path: Path, card: str) -> None:
    """Write the card beside a network or a decoder."""
    path.with_suffix(".md").write_text(card, encoding="utf-8")
    print(path)


def without_folders(text: str) -> str:
    """Leave of each absolute path its last part: where something lay on one machine says nothing on another."""
    return re.sub(r"(?<![^\s='\"])/[^\s'\"]*/([^/\s'\"]+)", r"\1", text)


def keep_untrained(row: str, seed: int, name: str) -> None:
    """Ship a network as it is before training."""
    net, path = build(row, seed), CHECKPOINTS / f"{name}.safetensors"
    metrics = {"passes": 0, "finished": True, "seed": seed}
    save_checkpoint(net, path, overwrite=True, metrics=metrics, initial_log2_sigma=initial_log2_sigma(net))
    with_card(path, model_card(path))


def refuse_nothing_to_keep(own: RunFolder) -> None:
    """Refuse a run without a state: it has finished, or was ended before its first save."""
    if own.state.exists():
        return
    if own.read_record()[1].get("finished"):
        raise SystemExit(f"{own.path} holds a finished run, which has no state any more; leave --unfinished out")
    raise SystemExit(
        f"{own.path} has no state.safetensors yet: the run was ended before its first save, so there is nothing to "
        "keep; go on with it (dcnbio train --resume) and stop it after a step (Ctrl-C saves)"
    )


def keep_unfinished(run: Path, name: str) -> None:
    """Keep the state of a run; `dcnbio train --resume` goes on from a copy of this folder."""
    own = RunFolder(run)
    decoder = own.read_record()[0].task == "reconstruction"
    refuse_nothing_to_keep(own)
    folder = UNFINISHED / "decoders" / name if decoder else UNFINISHED / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in STATE:
        # before the first epoch ends there are no metrics; those of a run kept before would be of another one
        (folder / file).unlink(missing_ok=True)
        if (run / file).exists():
            shutil.copyfile(run / file, folder / file)
    record = json.loads((folder / "run.json").read_text())
    told: dict[str, Any] = {key: without_folders(record[key]) for key in ("source", "command") if key in record}
    if "start" in record:
        told["start"] = {**record["start"], "begun_from": without_origin_folders(record["start"]["begun_from"])}
    (folder / "run.json").write_text(json.dumps({**record, **told}, indent=1) + "\n")
    print(folder)


def begun_with(recipe: dict[str, Any], kept: Path, given: str | None) -> str:
    """Give the command that a run was begun with, from the state that was kept of it where another is recorded."""
    command = given or recipe.get("command") or ""
    if not goes_on(command):
        return command
    file = kept / "run.json"
    record = json.loads(file.read_text()) if file.exists() else {"recipe": {}}
    before = record.get("command", "")
    if recorded_recipe(record["recipe"]) != recorded_recipe(recipe) or goes_on(before):
        raise SystemExit(
            f"the run's command is recorded as {command!r}, which went on with it and tells nothing of its recipe, and "
            f"{file} holds no other of the same recipe; give the command that it was begun with (--command)"
        )
    return str(before)


def shareable(recipe: dict[str, Any], command: str) -> dict[str, Any]:
    """Give a recipe without the folders of the machine it ran on, with its command and the passes of its file."""
    named = passes_of_file(command)
    told = {**recipe, "command": without_folders(command)}
    told |= {key: without_folders(recipe.get(key) or "") for key in ("images_source", "encoder", "start")}
    told |= {"passes_of_file": named} if named else {}
    if "begun_from" in recipe:
        told["begun_from"] = without_origin_folders(recipe["begun_from"])
    return told


def without_origin_folders(begun: dict[str, Any]) -> dict[str, Any]:
    """Give what a run went on from, and what that had gone on from, by the files' names alone."""
    told = {**begun, **{key: without_folders(begun[key]) for key in ("file", "command") if key in begun}}
    if "recipe" in begun:
        paths = {key: without_folders(begun["recipe"][key]) for key in ("start", "encoder") if key in begun["recipe"]}
        told["recipe"] = {**begun["recipe"], **paths}
    return {**told, "begun_from": without_origin_folders(told["begun_from"])} if "begun_from" in told else told


def shipped_with(weights: str) -> str:
    """Name the shipped network that has these weights."""
    for path in sorted(CHECKPOINTS.glob("*.safetensors")):
        if weights_id(open_tensors(path)[1]) == weights:
            return path.stem
    raise SystemExit(
        f"the decoder was trained on a network with weights {weights}, and none of the networks in {CHECKPOINTS} has "
        "them, so nobody could use it; ship that network first, or train the decoder on one that ships"
    )


def keep_decoder(run: Path, name: str, header: Header, command: str | None) -> None:
    """Ship a trained decoder; what was kept of its unfinished run is no longer needed."""
    unfinished = UNFINISHED / "decoders" / name
    recipe = shareable(header.recipe, begun_with(header.recipe, unfinished, command))
    weights = header.source.get(ENCODER_WEIGHTS)
    if weights is None:
        raise SystemExit(f"{run} holds a decoder that does not tell which network it was trained on; train it anew")
    source, path = {**header.source, "encoder": shipped_with(weights)}, DECODERS / f"{name}.safetensors"
    DECODERS.mkdir(exist_ok=True)
    parts = {"recipe": recipe, "metrics": header.metrics, "source": source}
    save_decoder(load_decoder_checkpoint(run / "checkpoint.safetensors"), path, overwrite=True, **parts)
    shutil.copy2(run / "metrics.csv", DECODERS / f"{name}.metrics.csv")
    shutil.rmtree(unfinished, ignore_errors=True)
    with_card(path, decoder_card(path))


def keep_curves(runs: Sequence[Path], name: str) -> None:
    """Keep the metrics of a run and of those it went on from, latest first, under the names that are looked for."""
    found = [(run / "metrics.csv" if run.is_dir() else run).read_bytes() for run in runs]
    for old in CHECKPOINTS.glob(f"{name}.begun_from.*metrics.csv"):
        old.unlink()
    for before, curves in enumerate(found):
        (CHECKPOINTS / f"{name}.{'begun_from.' * before}metrics.csv").write_bytes(curves)


def keep_trained(run: Path, name: str, earlier: Sequence[Path], command: str | None) -> None:
    """Ship a trained network; what was kept of its unfinished run is no longer needed."""
    path, own = CHECKPOINTS / f"{name}.safetensors", run / "checkpoint.safetensors"
    header = read_header(own)
    if header.source.get("kind") == DECODER:
        keep_decoder(run, name, header, command)
        return
    recipe = shareable(header.recipe, begun_with(header.recipe, UNFINISHED / name, command))
    parts = {"metrics": header.metrics, "initial_log2_sigma": header.initial_log2_sigma, "source": header.source}
    save_checkpoint(load_checkpoint(own), path, overwrite=True, recipe=recipe, **parts)
    keep_curves([run, *earlier], name)
    shutil.rmtree(UNFINISHED / name, ignore_errors=True)
    with_card(path, model_card(path))


def keep_again(path: Path, command: str | None) -> None:
    """Write header and card of a network or a decoder that ships anew; its weights, figures and curves stay."""
    header = read_header(path)
    recipe, metrics, source = header.recipe, header.metrics, header.source
    if "optimisation" in recipe:
        recipe = shareable(recipe, begun_with(recipe, UNFINISHED / path.stem, command))
    if source.get("kind") == DECODER:
        decoder = load_decoder_checkpoint(path)
        save_decoder(decoder, path, overwrite=True, recipe=recipe, metrics=metrics, source=source)
        with_card(path, decoder_card(path))
        return
    parts = {"metrics": metrics, "initial_log2_sigma": header.initial_log2_sigma, "source": source}
    save_checkpoint(load_checkpoint(path), path, overwrite=True, recipe=recipe, **parts)
    with_card(path, model_card(path))


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(arguments)
    if chosen.untrained:
        keep_untrained(chosen.untrained, chosen.seed, chosen.name or f"{chosen.untrained}-untrained")
    elif chosen.again:
        keep_again(chosen.again, chosen.command)
    elif chosen.run is None:
        raise SystemExit("name the folder of a run, --untrained ROW or --again FILE")
    elif chosen.unfinished:
        keep_unfinished(chosen.run, chosen.name or chosen.run.name)
    else:
        keep_trained(chosen.run, chosen.name or chosen.run.name, chosen.earlier, chosen.command)
    write_manifest(DATA)


if __name__ == "__main__":
    end_in_words(main)
