"""What a training run's state is: how far the run had come when it was saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["holds_state", "state_info", "state_report"]


def progress_in(path: Path) -> dict[str, Any]:
    """Read how far a run is from its state; empty where a file is none."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            found: dict[str, Any] = json.loads((file.metadata() or {}).get("progress", "{}"))
            return found
    except (SafetensorError, OSError, ValueError):
        return {}  # whoever wants a checkpoint says what is wrong with it


def holds_state(path: Path) -> bool:
    """Whether a file is the state of a training run."""
    return path.suffix == ".safetensors" and "step" in progress_in(path)


def state_info(path: Path) -> dict[str, Any]:
    """Describe a state in plain values."""
    progress = progress_in(path)
    return {
        "file": str(path),
        "kind": "state of a training run",
        "step": progress["step"],
        "minutes": progress.get("seconds", 0.0) / 60,
    }


def state_report(found: dict[str, Any]) -> str:
    """Lay out a state.

    Examples
    --------
    >>> print(state_report({"file": "run/state.safetensors", "step": 12, "minutes": 3.0}))
    state      run/state.safetensors
    of         a training run that is not finished: weights and momentum after 12 steps and 3.0 minutes
    go on      dcnbio train --resume --out run, with the images it was begun with
    network    run/checkpoint.safetensors, of the last whole epoch, if there was one
    """
    folder = Path(found["file"]).parent
    return "\n".join(
        [
            f"state      {found['file']}",
            f"of         a training run that is not finished: weights and momentum after {found['step']} steps and "
            f"{found['minutes']:.1f} minutes",
            f"go on      dcnbio train --resume --out {folder}, with the images it was begun with",
            f"network    {folder / 'checkpoint.safetensors'}, of the last whole epoch, if there was one",
        ]
    )
