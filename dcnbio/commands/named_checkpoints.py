"""What networks are called in a result: their files' short names, each network once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcnbio.errors import InputError

__all__ = ["RUN_CHECKPOINT", "refuse_model_of_none", "refuse_repeated", "short_name", "short_names"]

RUN_CHECKPOINT = "checkpoint.safetensors"  # what every run of dcnbio train calls its own


def refuse_repeated(checkpoints: Sequence[str]) -> None:
    """Refuse a checkpoint that is named twice."""
    if len(set(checkpoints)) < len(checkpoints):
        raise InputError(f"a checkpoint is named twice in {', '.join(checkpoints)}; one network counts once.")


def refuse_model_of_none(model: str | None) -> None:
    """Refuse the row of a public .pth where none is named: shipped networks say what they are."""
    if model is not None:
        raise InputError(f"--model is {model}, and no .pth is named that it could be the row of; name one.")


def short_name(checkpoint: str | Path) -> str:
    """Give the short name of a checkpoint: of its file, or of its folder where every run's file is called the same.

    Examples
    --------
    >>> short_name("dcn-ode"), short_name("nets/mine.safetensors"), short_name("runs/lr0.1/checkpoint.safetensors")
    ('dcn-ode', 'mine', 'lr0.1')
    """
    path = Path(checkpoint).resolve()
    if path.name == RUN_CHECKPOINT:
        return path.parent.name or path.stem
    return path.name if path.is_dir() else path.stem


def short_names(checkpoints: Sequence[str]) -> dict[str, str]:
    """Give each checkpoint, by what was named, its short name; all keep what was named if two would agree.

    Examples
    --------
    >>> short_names(["dcn-ode", "runs/mine/last.safetensors"])
    {'dcn-ode': 'dcn-ode', 'runs/mine/last.safetensors': 'last'}
    >>> short_names(["a/last.safetensors", "b/last.safetensors"])
    {'a/last.safetensors': 'a/last.safetensors', 'b/last.safetensors': 'b/last.safetensors'}
    """
    stems = {name: short_name(name) for name in checkpoints}
    return stems if len(set(stems.values())) == len(stems) else {name: name for name in checkpoints}
