"""Labels of images as the classes of a network, found by name: the order of names is no more than an accident."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dcnbio.errors import InputError
from dcnbio.images import CIFAR10_CLASSES

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.model.network import Network

__all__ = ["network_classes", "untrained_classes", "with_labels_if_any", "with_labels_of"]


def network_classes(net: Network) -> list[str]:
    """Name the classes of a network, one for each output; none where its checkpoint does not tell them.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> net = build("resnet-blocks", classes=3)
    >>> net.source["classes"] = ["ant", "bee"]
    >>> network_classes(net)
    ['ant', 'bee', '(output 2, never trained)']
    """
    names = [str(name) for name in net.source.get("classes", [])]
    spare = [f"(output {i}, never trained)" for i in range(len(names), net.spec.classes)] if names else []
    return [*names, *spare]


def classes_of(data: xr.Dataset) -> list[str]:
    """Name the classes that labels count: CIFAR-10's where the images do not tell."""
    return [str(name) for name in data["label"].attrs.get("class_names", CIFAR10_CLASSES)]


def untrained_classes(net: Network, data: xr.Dataset) -> list[str]:
    """List the classes of labelled images that a network was not trained on, by name.

    Empty where the network's checkpoint does not tell its classes, as those of earlier versions do not.
    """
    names = network_classes(net)
    if "label" not in data or not names:
        return []
    own = classes_of(data)
    shown = {own[label] for label in np.unique(data["label"].values) if 0 <= label < len(own)}
    return sorted(shown - set(names))


def with_labels_of(net: Network, data: xr.Dataset) -> xr.Dataset:
    """Give images whose labels count the network's classes, each found by its name.

    Parameters
    ----------
    net : Network
        Its checkpoint's header tells its classes; images are left as they are where it does not.
    data : xarray.Dataset
        From `dcnbio.load_images`.

    Raises
    ------
    InputError
        If images are of a class that the network was not trained on.

    Examples
    --------
    >>> import dcnbio
    >>> from dcnbio.model.network import build
    >>> net, data = build("resnet-blocks"), dcnbio.load_images(classes=["cat", "dog"], limit=2)
    >>> net.source["classes"] = ["dog", "cat"]
    >>> data.label.values, with_labels_of(net, data).label.values
    (array([3, 5]), array([1, 0]))
    """
    names = network_classes(net)
    if not names or "label" not in data:
        return data
    unknown = untrained_classes(net, data)
    if unknown:
        raise InputError(
            f"the images of {data.attrs['source']} are of {', '.join(unknown[:10])} ({len(unknown)} in all), which the "
            f"network was not trained on; its classes are {', '.join(net.source['classes'][:10])} "
            f"({len(net.source['classes'])} in all), so give images of these, in folders of these names."
        )
    places = np.array([*(names.index(name) if name in names else -1 for name in classes_of(data)), -1])
    label = data["label"].copy(data=places[data["label"].values])
    return data.assign(label=label.assign_attrs(class_names=names))


def with_labels_if_any(net: Network, data: xr.Dataset) -> xr.Dataset:
    """Give images with the network's labels, or with none where it was not trained on one of their classes.

    For what can be measured without labels: a label of another set that equals an answer would be right by accident.

    Examples
    --------
    >>> import dcnbio
    >>> from dcnbio.model.network import build
    >>> net = build("resnet-blocks")
    >>> net.source["classes"] = ["ant", "bee"]
    >>> with_labels_if_any(net, dcnbio.load_images(limit=2)).label.values
    array([-1, -1])
    """
    if untrained_classes(net, data):
        return data.assign(label=data["label"].copy(data=np.full(data["label"].shape, -1)))
    return with_labels_of(net, data)
