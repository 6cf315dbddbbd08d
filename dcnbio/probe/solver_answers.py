"""What one solver makes of some images, intact and masked, and how far that is from what another makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dcnbio.model.device import double
from dcnbio.model.network import Network, Run
from dcnbio.model.status import Status
from dcnbio.probe.precision import held_still, moved
from dcnbio.probe.settings import DTYPES, ProbeSettings
from dcnbio.probe.solver_rows import SolverRow

__all__ = ["Answers", "answers_of", "compared"]


@dataclass(frozen=True, eq=False)
class Answers:
    """What one solver made of the images.

    Attributes
    ----------
    logits : array, shape (image, class)
    ends : list of array, shape (image, channel, y, x)
        h(T) of each block.
    apart : array, shape (image, block)
        D(T) of the masked image, with A the intact map's amplitude at 0.
    nfe : array, shape (image, block)
    solved : bool array, shape (image,)
    """

    logits: NDArray[np.float64]
    ends: list[NDArray[np.float64]]
    apart: NDArray[np.float64]
    nfe: NDArray[np.float64]
    solved: NDArray[np.bool_]


def run_once(net: Network, images: NDArray[np.float32], row: SolverRow, base: ProbeSettings) -> Run:
    """Run some images with one solver."""
    # one step size serves all blocks: that of the longest
    settings = row.settings(base, max(net.spec.integration_time))
    tensor = torch.from_numpy(images).to(settings.device, settings.torch_dtype)
    with held_still(net):
        return net.run(tensor, settings.solver, 2)


def answers_of(net: Network, images: dict[str, NDArray[np.float32]], row: SolverRow, base: ProbeSettings) -> Answers:
    """Run the intact and the masked images with one solver."""
    ready = moved(net, DTYPES[row.dtype], base.device)
    parts: list[Answers] = []
    for start in range(0, len(images["intact"]), base.batch_size):
        part = slice(start, start + base.batch_size)
        intact, masked = (run_once(ready, images[name][part], row, base) for name in ("intact", "masked"))
        paths = [(double(a.path).cpu().numpy(), double(b.path).cpu().numpy()) for a, b in pairs(intact, masked)]
        amplitude = [np.abs(a[:, 0]).sum((1, 2, 3)) for a, _ in paths]
        moved_apart = [np.abs(a[:, -1] - b[:, -1]).sum((1, 2, 3)) for a, b in paths]
        status = np.stack([block.work.status.numpy() for run in (intact, masked) for block in run.blocks])
        parts.append(
            Answers(
                double(intact.logits).cpu().numpy(),
                [a[:, -1] for a, _ in paths],
                np.stack([m / np.maximum(s, 1e-300) for m, s in zip(moved_apart, amplitude, strict=True)], 1),
                np.stack([block.work.nfe.numpy() for block in intact.blocks], 1).astype(np.float64),
                np.asarray((status == Status.OK).all(0)),
            )
        )
    ends = [np.concatenate([part.ends[b] for part in parts]) for b in range(len(net.blocks))]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("logits", "apart", "nfe")}
    return Answers(ends=ends, solved=np.concatenate([part.solved for part in parts]), **joined)


def pairs(intact: Run, masked: Run) -> Iterator[tuple[Any, Any]]:
    """Pair the blocks of two runs."""
    return zip(intact.blocks, masked.blocks, strict=True)


def compared(found: Answers, reference: Answers, labels: NDArray[np.int64]) -> dict[str, Any]:
    """Compare a solver's answers with the tightest one's, over the images that both solved."""
    both = found.solved & reference.solved
    blocks = len(found.ends)
    nothing = {"logits_largest": np.nan, "logits_median": np.nan, "accuracy": np.nan, "accuracy_change": np.nan}
    if not both.any():
        none = np.full(blocks, np.nan)
        return {
            **nothing,
            "changed_answers": 0,
            "unsolved": len(both),
            "end_change": none,
            "d_change": none,
            "nfe": none,
        }
    logits, exact = found.logits[both], reference.logits[both]
    scale = np.abs(exact).max()
    answers, right_answers = logits.argmax(1), exact.argmax(1)
    known = (labels[both] >= 0).all()
    right = (answers == labels[both]).mean() if known else np.nan
    right_before = (right_answers == labels[both]).mean() if known else np.nan

    def apart(block: int) -> float:
        a, b = found.ends[block][both], reference.ends[block][both]
        size = np.sqrt((b**2).sum((1, 2, 3)))
        return float(np.median(np.sqrt(((a - b) ** 2).sum((1, 2, 3))) / np.maximum(size, 1e-300)))

    return {
        "logits_largest": float(np.abs(logits - exact).max() / scale),
        "logits_median": float(np.median(np.abs(logits - exact).max(1)) / scale),
        "accuracy": float(right),
        "accuracy_change": float(right - right_before),
        "changed_answers": int((answers != right_answers).sum()),
        "unsolved": int((~both).sum()),
        "end_change": np.array([apart(block) for block in range(blocks)]),
        "d_change": (found.apart[both].mean(0) - reference.apart[both].mean(0)) / reference.apart[both].mean(0),
        "nfe": found.nfe[both].mean(0),
    }
