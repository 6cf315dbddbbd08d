"""Opens the images that options name: what cannot be read is refused or, where asked for, marked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from dcnbio.commands.options import WHICH, Images, Limit, flag, limit_of, whole_numbers

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.images import ImageSet

__all__ = ["ImageOptions", "open_images"]

DEFAULT_LIMIT = 100


@Parameter(name="*", group=WHICH)
@dataclass(frozen=True)
class ImageOptions:
    """Which images, and what is done with those that cannot be used."""

    images: Images = None
    split: Annotated[Literal["train", "test"], Parameter(help="Which, where the images have both.")] = "test"
    limit: Limit = None
    classes: Annotated[str | None, Parameter(help="Classes to take, e.g. cat,dog; all if left out.")] = None
    indices: Annotated[
        str | None, Parameter(help="Positions in the source to take, e.g. 0-9,42, in place of --limit and --classes.")
    ] = None
    resize: Annotated[bool, flag("Cut and resize images that are not 32 x 32.")] = False
    broken: Annotated[
        Literal["refuse", "mark"],
        Parameter(help="Files that cannot be read as images: refuse the set, or record the others and name these."),
    ] = "refuse"


def count_images(path: Path, split: Literal["train", "test"], classes: list[str] | None) -> int:
    """Count the images of a source, without decoding them."""
    from dcnbio.images.open_source import open_source
    from dcnbio.images.selection import Selection, select

    found = open_source(path.expanduser(), split)
    return len(select(found.labels, found.class_names, Selection(classes=classes)))


def chosen_limit(options: ImageOptions, classes: list[str] | None, most: int | None) -> int | None:
    """Give the limit that was asked for; without one, `most` images or all there are."""
    if options.indices is not None and options.limit is None:
        return None
    if options.limit is not None or most is None:
        return limit_of(options.limit)
    if options.images is None and classes is None:
        return most
    from dcnbio.images.read import SHIPPED_IMAGES
    from dcnbio.images.shipped import shipped

    path = shipped(SHIPPED_IMAGES) if options.images is None else Path(options.images)
    return min(most, count_images(path, options.split, classes))


def open_images(options: ImageOptions, most: int | None = DEFAULT_LIMIT) -> xr.Dataset:
    """Read images; `most` is how many where no limit was given (None: all).

    Images with values that are no numbers are kept, marked: they concern themselves alone.
    """
    from dcnbio.images import Selection, read_images
    from dcnbio.images.dataset import to_dataset

    classes = None if options.classes is None else options.classes.split(",")
    indices = None if options.indices is None else whole_numbers(options.indices, "--indices")
    selection = Selection(limit=chosen_limit(options, classes, most), indices=indices, classes=classes)

    def read(bad: Literal["refuse", "mark"]) -> ImageSet:
        return read_images(options.images, split=options.split, selection=selection, resize=options.resize, bad=bad)

    found = read("mark")
    if options.broken == "refuse" and any(not reason.startswith("non-finite") for reason in found.problems.values()):
        found = read("refuse")  # whose refusal names each, with the fix
    return to_dataset(found)
