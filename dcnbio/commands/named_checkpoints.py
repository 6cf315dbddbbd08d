"""What networks are called in a result: their files' short names, each network once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcnbio.errors import InputError

__all__ = ["refuse_model_of_none", "refuse_repeated", "short_names"]


def refuse_repeated(checkpoints: Sequence[str]) -> None:
    """Refuse a checkpoint that is named twice."""
    if len(set(checkpoints)) < len(checkpoints):
        raise InputError(f"a checkpoint is named twice in {', '.join(checkpoints)}; one network counts once.")


def refuse_model_of_none(model: str | None) -> None:
    """Refuse the row of a public .pth where none is named: shipped networks say what they are."""
    if model is not None:
        raise InputError(f"--model is {model}, and no .pth is named that it could be the row of; name one.")


def short_names(checkpoints: Sequence[str]) -> dict[str, str]:
    """Give each checkpoint, by what was named, the short name of its file; all keep what was named if two would agree.

    Examples
    --------
    >>> short_names(["dcn-ode", "runs/mine/last.safetensors"])
    {'dcn-ode': 'dcn-ode', 'runs/mine/last.safetensors': 'last'}
    >>> short_names(["a/last.safetensors", "b/last.safetensors"])
    {'a/last.safetensors': 'a/last.safetensors', 'b/last.safetensors': 'b/last.safetensors'}
    """
    stems = {name: Path(name).stem for name in checkpoints}
    return stems if len(set(stems.values())) == len(stems) else {name: name for name in checkpoints}
