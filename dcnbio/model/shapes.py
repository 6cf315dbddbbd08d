"""The tensor shapes of the model, named once.

n images, c channels, y rows, x columns; t times. With jaxtyping they can be checked as the code runs; without it (a
machine that only trains) they are names for a tensor.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from torch import Tensor

__all__ = ["Images", "Logits", "Maps", "Times", "Trajectory"]

if TYPE_CHECKING or find_spec("jaxtyping") is not None:
    from jaxtyping import Float

    Images: TypeAlias = Float[Tensor, "n 3 y x"]
    Maps: TypeAlias = Float[Tensor, "n c y x"]
    Trajectory: TypeAlias = Float[Tensor, "n t c y x"]
    Logits: TypeAlias = Float[Tensor, "n classes"]
    Times: TypeAlias = Float[Tensor, " t"]
else:
    Images = Maps = Trajectory = Logits = Times = Tensor
