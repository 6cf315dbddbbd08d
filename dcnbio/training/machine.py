"""What a run ran on, in words, for its record."""

from __future__ import annotations

import os
import platform

import torch

__all__ = ["describe_machine"]


def processor() -> str:
    """Name the processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe_machine(device: str) -> str:
    """Name the card or the processor, with threads and PyTorch's version.

    Examples
    --------
    >>> "torch" in describe_machine("cpu")
    True
    """
    if device.startswith("cuda"):
        return f"{torch.cuda.get_device_name(device)}, torch {torch.__version__}"
    return f"{processor()}, {torch.get_num_threads()} threads of {os.cpu_count()} cores, torch {torch.__version__}"
