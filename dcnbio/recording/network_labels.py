"""Labels of a recording as classes of the network, so that no label equals an answer by accident."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import xarray as xr

__all__ = ["network_labels", "of_other_classes"]


def of_other_classes(root: xr.Dataset) -> bool:
    """Whether the images of a recording have classes that are not the network's.

    A recording's classes are those of its class scores. Where the images have more or fewer classes than the network,
    `dcnbio.probe` has no names for these and numbers them "0", "1" and so on, while ``label`` still counts the images'
    classes. A label beyond the network's last class tells the same.

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
    It misleads where a network's own classes are called "0" to "9", as digits may be: give the classes of the
    opened recording other names, ``tree.coords["class"] = [...]``.

    Examples
    --------
    >>> root = xr.Dataset(
    ...     {"logits": (("stimulus", "class"), [[0.5, 0.1]])}, {"label": ("stimulus", [1]), "class": ["0", "1"]}
    ... )
    >>> of_other_classes(root), of_other_classes(root.assign_coords({"class": ["face", "house"]}))
    (True, False)
    """
    labels, classes = root["label"].values, root["logits"].sizes["class"]
    if not (labels >= 0).any():
        return False
    names = [str(name) for name in root["class"].values]
    return bool((labels >= classes).any()) or names == [str(number) for number in range(classes)]


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
