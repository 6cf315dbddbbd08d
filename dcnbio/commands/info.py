"""``dcnbio info``: what a checkpoint or a recording is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dcnbio.commands.options import Json, Model
from dcnbio.commands.table import table

__all__ = ["info"]


def info(name: str = "dcn-ode", /, *, model: Model = None, json_: Json = False) -> int:
    """Say what a checkpoint (a shipped name or a file) or a recording (.zarr, .nc) is and holds."""
    path = Path(name)
    recording = path.suffix in (".zarr", ".nc") or (path.is_dir() and (path / "zarr.json").exists())
    found = recording_info(path) if recording else checkpoint_info(name, model)
    if json_:
        print(json.dumps(found))
    else:
        print(recording_report(found) if recording else checkpoint_report(found))
    return 0


def recording_info(path: Path) -> dict[str, Any]:
    """Describe a recording."""
    from dcnbio.recording import describe

    return describe(path)


def recording_report(found: dict[str, Any]) -> str:
    """Lay out a recording."""
    from dcnbio.recording import human_bytes

    about = found["provenance"]
    rows = [
        [
            name,
            "none" if block["shape"] is None else " x ".join(map(str, block["shape"])),
            len(block["times"]),
            f"{block['times'][0]:g} to {block['times'][-1]:g}",
        ]
        for name, block in found["blocks"].items()
    ]
    state = "complete" if found["complete"] else "UNFINISHED"
    solver = about.get("solver", {})
    return "\n".join(
        [
            f"recording {found['path']}: {state}, {found['done']} of {found['total']} images, "
            f"{human_bytes(found['bytes'])}",
            table(["block", "channel x y x x", "times", "solver time"], rows),
            f"network   {about.get('spec', {}).get('row', 'unknown')}, weights {about.get('weights', 'unknown')[:23]}",
            f"solver    {solver.get('method')}, rtol {solver.get('rtol')}, atol {solver.get('atol')}, "
            f"{solver.get('stepping')} steps, {about.get('dtype')} on {about.get('device')}",
            f"made      {about.get('date')} by dcnbio {about.get('dcnbio_version')}: {about.get('command')}",
        ]
    )


def checkpoint_info(name: str, model: str | None) -> dict[str, Any]:
    """Describe a checkpoint."""
    from dcnbio.model.checkpoint import read_header
    from dcnbio.model.loading import find_checkpoint, load
    from dcnbio.model.scales import layer_scales
    from dcnbio.model.weights import weights_id

    path = find_checkpoint(name)
    net = load(path, model)
    header = vars(read_header(path)) if path.suffix == ".safetensors" else {"source": net.source}
    initial = header.get("initial_log2_sigma", {})
    scales = [
        {
            "layer": scale.layer,
            "sigma": summary(scale.sigma),
            "effective": summary(scale.effective),
            "kernel_size": scale.kernel_size,
            "initial_sigma": None if scale.layer not in initial else power_mean(initial[scale.layer]),
        }
        for scale in layer_scales(net)
    ]
    return {
        "file": str(path),
        "parameters": sum(p.numel() for p in net.parameters()),
        "weights": weights_id(net.state_dict()),
        "scales": scales,
        **{key: value for key, value in header.items() if key != "initial_log2_sigma"},
        "spec": net.spec.to_dict(),
    }


def summary(values: Any) -> dict[str, float]:
    """Give median, least and most of scales; one scale has all three equal."""
    flat = values.flatten()
    return {"median": float(flat.median()), "least": float(flat.min()), "most": float(flat.max())}


def power_mean(log2_sigma: list[float]) -> float:
    """Give the median of 2^s."""
    ordered = sorted(2**s for s in log2_sigma)
    return float(ordered[len(ordered) // 2])


def spread(scale: dict[str, float]) -> str:
    """Write one scale, or the median and range of many."""
    if scale["least"] == scale["most"]:
        return f"{scale['median']:.3f}"
    return f"{scale['median']:.2f} ({scale['least']:.2f} to {scale['most']:.2f})"


def checkpoint_report(found: dict[str, Any]) -> str:
    """Lay out a checkpoint."""
    spec = found["spec"]
    lines = [
        f"checkpoint {found['file']}",
        f"network    {spec['row']}, {found['parameters']:,} parameters, T = "
        f"{', '.join(f'{t:g}' for t in spec['integration_time'])}, widths {', '.join(map(str, spec['widths']))}",
        f"weights    {found['weights']}",
    ]
    metrics = found.get("metrics") or {}
    lines += [f"metrics    {', '.join(f'{k} {v}' for k, v in metrics.items())}"] if metrics else []
    if found["scales"]:
        rows = [
            [
                s["layer"],
                "-" if s["initial_sigma"] is None else f"{s['initial_sigma']:.3f}",
                spread(s["sigma"]),
                spread(s["effective"]),
                f"{s['kernel_size']} x {s['kernel_size']}",
            ]
            for s in found["scales"]
        ]
        lines.append(table(["layer", "before", "sigma (pixels)", "effective (pixels)", "kernel"], rows))
    else:
        lines.append("scales     none: all kernels have free pixel weights")
    return "\n".join(lines)
