"""The tensor shapes of the model, named once.

n images, c channels, y rows, x columns; f basis functions; t times; o and i output and input channels; k taps.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

__all__ = ["Images", "Kernel", "Logits", "Maps", "PerImage", "Taps", "Times", "Trajectory"]

Images = Float[Tensor, "n 3 y x"]
Maps = Float[Tensor, "n c y x"]
Trajectory = Float[Tensor, "n t c y x"]
Logits = Float[Tensor, "n classes"]
PerImage = Float[Tensor, " n"]
Times = Float[Tensor, " t"]
Kernel = Float[Tensor, "o i k k"]
Taps = Float[Tensor, "*scales order k"]
