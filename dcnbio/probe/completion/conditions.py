"""What a network is shown: intact images, masked ones, and the perturbations that masks are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.images import Box, central_boxes
from dcnbio.images.masks import mask_images
from dcnbio.probe.completion.perturbations import mask_at_random, other_patch, same_spectrum, scrambled, white
from dcnbio.probe.completion.settings import FILLS, CompletionSettings

__all__ = ["INTACT", "Condition", "conditions", "reference_images"]

Images = NDArray[np.float32]
Change = Callable[[Images, np.random.Generator], Images]
INTACT = "intact"


@dataclass(frozen=True, eq=False)
class Condition:
    """One way to change images.

    Attributes
    ----------
    name : str
    kind : str
        intact, mask, white noise, equal spectrum, other patch, random place, scrambled.
    side : int
        Of the square, in pixels; 0 for intact images.
    fill : str
        What is in it.
    change : callable
        From the reference images and a generator to the images that are shown.
    box : Box, optional
        Where the square is, if it is in one place for all images.
    reference : str
        "intact" or "scrambled": the images that are changed, which the result is compared with.
    """

    name: str
    kind: str
    side: int
    fill: str
    change: Change
    box: Box | None
    reference: str = INTACT


def masked(side: int, fill: float | str, place: int = 0, reference: str = INTACT) -> Condition:
    """Make a condition of a central square."""
    boxes = central_boxes(side)
    box, shown = boxes[place], "zeros" if fill == 0 else str(fill)
    name = f"mask {side}" + ("" if fill == 0 else f" {fill}") + (f" place {place + 1}" if len(boxes) > 1 else "")

    def change(images: Images, rng: np.random.Generator) -> Images:
        return mask_images(images, box, fill)  # type: ignore[arg-type]

    if reference == INTACT:
        return Condition(name, "mask", side, shown, change, box)
    return Condition(f"scrambled, {name}", "scrambled", side, shown, change, box, reference)


def without_generator(change: Callable[..., Images], *arguments: Any) -> Change:
    """Let a change that draws nothing be called with a generator."""
    return lambda images, rng: change(images, *arguments)


def conditions(settings: CompletionSettings) -> list[Condition]:
    """List what is shown, intact images first.

    Examples
    --------
    >>> [one.name for one in conditions(CompletionSettings(masks=(7,), controls=False))][:3]
    ['intact', 'mask 7 place 1', 'mask 7 place 2']
    """
    main = settings.main
    box = central_boxes(main)[0]
    found = [Condition(INTACT, INTACT, 0, "", without_generator(np.copy), None)]
    sides = sorted({*settings.masks, main})
    found += [masked(side, 0, place) for side in sides for place in range(len(central_boxes(side)))]
    found.append(Condition("white noise", "white noise", main, "noise", partial(at_box, white, box), box))
    found.append(Condition("equal spectrum", "equal spectrum", main, "noise", partial(at_box, same_spectrum, box), box))
    if settings.controls or settings.fills:
        found += [masked(main, fill) for fill in FILLS]
    if settings.controls:
        found.append(Condition("other patch", "other patch", main, "patch", without_generator(other_patch, box), box))
        place = Condition("random place", "random place", main, "zeros", partial(at_random, main), None)
        found += [place, masked(main, 0, reference="scrambled")]
    return found


def at_box(change: Callable[..., Images], box: Box, images: Images, rng: np.random.Generator) -> Images:
    """Put noise in a box, the arguments in the order that conditions take."""
    return change(images, box, rng)


def at_random(side: int, images: Images, rng: np.random.Generator) -> Images:
    """Mask at random places, the arguments in the order that conditions take."""
    return mask_at_random(images, side, rng)


def reference_images(images: Images, reference: str, rng: np.random.Generator) -> Images:
    """Give the images that a condition changes."""
    return images if reference == INTACT else scrambled(images, rng)
