"""What a run needs to go on as if it had not stopped: weights, momentum, and how far it is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from dcnbio.errors import CheckpointError
from dcnbio.training.atomic_file import replace_file

__all__ = ["Progress", "load_state", "save_state"]

WEIGHT, MOMENTUM = "weight.", "momentum."


@dataclass
class Progress:
    """How far a run is. Data order and augmentation are drawn anew from seed, epoch and step, so no generator is kept.

    Attributes
    ----------
    step : int
        Steps done.
    phase : int
        The earliest phase still allowed: the gap watch may have ended one before its time.
    seconds : float
        Time spent, over all parts of the run.
    sums : dict of str to float
        Sums over the epoch so far: loss, right, seen, steps, NFE.
    """

    step: int = 0
    phase: int = 0
    seconds: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)

    def add(self, **values: float) -> None:
        """Add to the sums of this epoch."""
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + value


def save_state(
    path: Path, module: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress, identity: str
) -> None:
    """Save a run's state, and which run it is of, in one file, replaced as a whole."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in module.named_parameters():
        tensors[WEIGHT + name] = parameter.detach().cpu().contiguous()
        momentum = optimiser.state[parameter].get("momentum_buffer")
        if momentum is not None:
            tensors[MOMENTUM + name] = momentum.detach().cpu().contiguous()
    replace_file(path, save(tensors, metadata={"progress": json.dumps(asdict(progress)), "run": identity}))


def load_state(path: Path, module: nn.Module, optimiser: torch.optim.Optimizer, identity: str) -> Progress:
    """Load a run's state into a network and its optimiser.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, of another network, or of another run; states that earlier versions of dcnbio
        saved do not say of which run they are.
    """
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            progress: dict[str, Any] = json.loads(file.metadata()["progress"])
            if file.metadata().get("run", identity) != identity:
                raise ValueError("it is of another recipe, other images or another start than run.json beside it")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        with torch.no_grad():
            for name, parameter in module.named_parameters():
                parameter.copy_(tensors[WEIGHT + name])
                if MOMENTUM + name in tensors:
                    buffer = torch.empty_like(parameter, requires_grad=False)
                    optimiser.state[parameter]["momentum_buffer"] = buffer.copy_(tensors[MOMENTUM + name])
        return Progress(**progress)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(
            f"{path} is no state of this run ({error}); begin anew in another folder, or with overwrite (--overwrite)."
        ) from error
