"""Opens the network that an option names, and says what its file did not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcnbio.commands.intervention_option import check_intervention, intervened
from dcnbio.commands.options import integration_time

if TYPE_CHECKING:
    from dcnbio.model.network import Network

__all__ = ["OpenedNetwork", "assumptions", "open_network", "rounding"]


@dataclass(frozen=True, eq=False)
class OpenedNetwork:
    """A network and what a person should know of how it was read.

    Attributes
    ----------
    net : Network
    notices : tuple of str
    """

    net: Network
    notices: tuple[str, ...]

    def __str__(self) -> str:
        """Name row, T, widths."""
        spec = self.net.spec
        times = ", ".join(f"{t:g}" for t in spec.integration_time)
        done = "".join(f", {one}" for one in self.net.source.get("interventions", []))
        return f"{spec.row}, T = {times}, widths {', '.join(map(str, spec.widths))}{done}"


def assumptions(net: Network, file: str, given: bool) -> str:
    """Say what a public .pth leaves open, and what was taken.

    Parameters
    ----------
    net : Network
    file : str
        Name of the file.
    given : bool
        Whether T was given.
    """
    times = ", ".join(f"{t:g}" for t in net.spec.integration_time)
    window = f"window = {net.spec.window:g} sigma"
    if given:
        return f"{file} does not hold T or the window of its filters: T = {times} as given, {window} assumed"
    return f"{file} does not hold T or the window of its filters: assumed T = {times} (--integration-time), {window}"


def rounding(net: Network) -> tuple[str, ...]:
    """Say of weights that were kept in half precision that they stay as coarse."""
    kept = net.source.get("stored_dtype")
    return (f"weights are kept in {kept}: they are run in float32, and stay rounded to {kept}",) if kept else ()


def open_network(
    checkpoint: str, model: str | None, time: str | None, interventions: tuple[str, ...] = ()
) -> OpenedNetwork:
    """Load a checkpoint as the options `--checkpoint`, `--model` and `--integration-time` ask, and change it."""
    for text in interventions:
        check_intervention(text)
    opened = loaded(checkpoint, model, time)
    net = opened.net
    for text in interventions:
        net = intervened(net, text)
    return OpenedNetwork(net, opened.notices)


def loaded(checkpoint: str, model: str | None, time: str | None) -> OpenedNetwork:
    """Load a checkpoint as it is, but for T."""
    from dcnbio.model.loading import find_checkpoint, load
    from dcnbio.model.public_checkpoint import load_public

    overrides: dict[str, Any] = integration_time(time)
    path = find_checkpoint(checkpoint)
    if path.suffix == ".safetensors":
        own = load(path, model, **overrides)
        return OpenedNetwork(own, rounding(own))
    net, weights = load_public(path, model, **overrides)
    return OpenedNetwork(net, (*weights.notices, *rounding(net), assumptions(net, path.name, time is not None)))
