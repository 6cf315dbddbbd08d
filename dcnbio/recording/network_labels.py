"""Labels of a recording as classes of the network, so that no label equals an answer by accident."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import xarray as xr

__all__ = ["network_labels", "of_other_classes", "unnamed_classes"]


def unnamed_classes(count: int) -> list[str]:
    """Name a network's classes where the images' are others, by words that nobody calls a class of images.

    Parameters
    ----------
    count : int

    Returns
    -------
    list of str

    Examples
    --------
    >>> unnamed_classes(2)
    ['output 0', 'output 1']
    """
    return [f"output {number}" for number in range(count)]


def of_other_classes(root: xr.Dataset) -> bool:
    """Whether the images of a recording have classes that are not the network's.

    A recording's classes are those of its class scores. Where the images have more or fewer classes than the network,
    `dcnbio.probe` has no names for these and gives them those of `unnamed_classes`, while ``label`` still counts the
    images' classes. A label beyond the network's last class tells the same.

    Parameters
    ----------
    root : xarray.Dataset
        Root of a recording: ``logits`` (stimulus, class), ``label`` (stimulus).

    Returns
    -------
    bool
        False where no image has a label.

    Notes
    -----
    It misleads where other images have as many classes as the network: nothing but their names tells.

    Examples
    --------
    >>> root = xr.Dataset(
    ...     {"logits": (("stimulus", "class"), [[0.5, 0.1]])},
    ...     {"label": ("stimulus", [1]), "class": ["output 0", "output 1"]},
    ... )
    >>> of_other_classes(root), of_other_classes(root.assign_coords({"class": ["face", "house"]}))
    (True, False)
    """
    labels, classes = root["label"].values, root["logits"].sizes["class"]
    if not (labels >= 0).any():
        return False
    names = [str(name) for name in root["class"].values]
    return bool((labels >= classes).any()) or names == unnamed_classes(classes)


def network_labels(root: xr.Dataset) -> npt.NDArray[np.int64]:
    """Give labels as indices of the network's classes: all -1 where the images' classes are others.

    Parameters
    ----------
    root : xarray.Dataset
        Root of a recording: ``logits`` (stimulus, class), ``label`` (stimulus).

    Returns
    -------
    array of int64 [stimulus]
        -1 where unknown.

    Examples
    --------
    >>> root = xr.Dataset(
    ...     {"logits": (("stimulus", "class"), [[0.5, 0.1]])}, {"label": ("stimulus", [4]), "class": ["face", "house"]}
    ... )
    >>> network_labels(root).tolist()
    [-1]
    """
    labels = root["label"].values.astype(np.int64)
    return np.full_like(labels, -1) if of_other_classes(root) else labels
