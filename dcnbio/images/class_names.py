"""The ten classes of CIFAR-10, and labels found by the name of a class, never by its position."""

from __future__ import annotations

from collections.abc import Iterable

from dcnbio.errors import ImageError

__all__ = ["CIFAR10_CLASSES", "labels_by_name"]

CIFAR10_CLASSES: tuple[str, ...] = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)


def labels_by_name(names: Iterable[str], where: str) -> tuple[dict[str, int], tuple[str, ...], tuple[str, ...]]:
    """Give every class name its label: the place of that name in CIFAR-10, whichever other classes are there.

    Three cases. All names are CIFAR-10 classes (in any case of letters): each gets its CIFAR-10 label, so a missing
    class shifts nothing. Some are and some are not: refused, for either the odd one is misspelt or the labels would
    be a guess. None is: the names are another set's, labels are positions in its sorted names, and a notice says so.

    Parameters
    ----------
    names : iterable of str
        Class names, such as the names of class folders; repeats are fine.
    where : str
        What holds them, for messages.

    Returns
    -------
    labels : dict of str to int
        The label of every name.
    class_names : tuple of str
        The name of every label, in order of the labels.
    notices : tuple of str
        What a reader of the results has to know.

    Raises
    ------
    ImageError
        When known and unknown names are mixed.

    Notes
    -----
    It misleads when labels of another set are compared with a network's ten outputs: compare `class_names` with
    `CIFAR10_CLASSES` before any accuracy is stated.

    Examples
    --------
    >>> labels_by_name(["dog", "airplane"], "folder")[0]
    {'airplane': 0, 'dog': 5}
    >>> labels_by_name(["zebra", "emu"], "folder")[:2]
    ({'emu': 0, 'zebra': 1}, ('emu', 'zebra'))
    """
    present = sorted(set(names))
    known = {name: CIFAR10_CLASSES.index(name.casefold()) for name in present if name.casefold() in CIFAR10_CLASSES}
    unknown = [name for name in present if name not in known]
    if known and unknown:
        raise ImageError(
            f"{where} has classes that CIFAR-10 does not: {', '.join(unknown[:10])} ({len(unknown)} in all) beside "
            f"{', '.join(list(known)[:3])}; allowed are {', '.join(CIFAR10_CLASSES)}: rename them or move them away"
        )
    if known:
        return known, CIFAR10_CLASSES, ()
    notice = (
        f"no class of {where} is one of CIFAR-10: labels are positions in its {len(unknown)} sorted class names, "
        "and accuracy against a CIFAR-10 network has no meaning"
    )
    return {name: label for label, name in enumerate(unknown)}, tuple(unknown), (notice,)
