"""A small recording, the same in every process: its layout, its provenance and its batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcnbio.recording import Batch, BlockBatch, BlockLayout, RecordingLayout, VariableLayout

PROVENANCE: dict[str, Any] = {"weights_sha256": "ab" * 32, "solver": {"rtol": 1e-3, "method": "dopri5"}, "tf32": False}


def layout(n: int = 10, batch_size: int = 4, **changes: Any) -> RecordingLayout:
    dtype, second_h = changes.pop("dtype", "float32"), changes.pop("second_h", True)
    blocks = (
        BlockLayout("block1", np.linspace(0, 2, 3), (4, 5, 6), dtype=dtype),
        BlockLayout(
            "block2",
            np.array([0.0, 1.0]),
            (3, 2, 2),
            channels=np.array([7, 0, 5]),
            origin=(3, 4),
            store_h=second_h,
            extra=(VariableLayout("h_norm", ("time",), "float32", "Euclidean norm of h", "1"),),
        ),
    )
    settings: dict[str, Any] = {
        "stimulus": np.arange(n) * 3 + 5,
        "labels": np.arange(n) % 3 - 1,
        "files": [f"bépo ü/图 {i}.png" for i in range(n)],
        "class_names": ["cat", "dög"],
        "blocks": blocks,
        "batch_size": batch_size,
    }
    return RecordingLayout(**{**settings, **changes})


def batch(plan: RecordingLayout, index: int, failed: tuple[int, ...] = ()) -> Batch:
    """One batch; `failed` are positions along stimulus whose solve failed."""
    where = plan.batch(index)
    positions = np.arange(where.start, where.stop)
    rng = np.random.default_rng(index)
    bad = np.isin(positions, failed)
    blocks = {}
    for block in plan.blocks:
        h = rng.normal(size=(len(positions), *block.sizes.values())).astype(block.dtype)
        h[bad] = np.nan
        steps = rng.integers(1, 5, size=len(positions))
        blocks[block.name] = BlockBatch(
            h=h if block.store_h else None,
            nfe=2 + 6 * steps,
            accepted=steps,
            rejected=np.zeros_like(steps),
            status=np.where(bad, 4, 0),
            step_times=[np.arange(1, k + 1) / k for k in steps],
            reasons=["non-finite right-hand side, né" if b else "" for b in bad],
            extra={v.name: np.ones((len(positions), *(block.sizes[d] for d in v.dims)), v.dtype) for v in block.extra},
        )
    logits = rng.normal(size=(len(positions), len(plan.class_names))).astype(np.float32)
    logits[bad] = np.nan
    return Batch(where.start, logits, blocks)


def batches(plan: RecordingLayout, failed: tuple[int, ...] = ()) -> list[Batch]:
    return [batch(plan, index, failed) for index in range(plan.batches)]
