"""Several processes that train one network: each has a share of every batch, and all take the same steps."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from dcnbio.errors import InputError

__all__ = ["Processes", "joined_processes"]


@dataclass(frozen=True)
class Processes:
    """One process among those that train together.

    Attributes
    ----------
    rank, count : int
    device : str
        Where sums over processes are made.
    """

    rank: int = 0
    count: int = 1
    device: str = "cpu"

    @property
    def first(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    def share(self, n: int) -> slice:
        """Choose this process' part of n images of a batch.

        Examples
        --------
        >>> Processes(1, 2).share(5)
        slice(2, 5, None)
        """
        return slice(n * self.rank // self.count, n * (self.rank + 1) // self.count)

    def total(self, values: Tensor) -> Tensor:
        """Add up over processes; every process gets the same bits."""
        if self.count == 1:
            return values
        moved = values.detach().to(self.device).clone()
        dist.all_reduce(moved)
        return moved.to(values.device)

    def add_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Add the gradients of all processes up, in place."""
        if self.count == 1:
            return
        parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = self.total(torch.cat([part.reshape(-1) for part in parts]))
        start = 0
        for p in parameters:
            p.grad = flat[start : start + p.numel()].view_as(p).clone()
            start += p.numel()


@contextmanager
def joined_processes(device: str) -> Iterator[Processes]:
    """Join the other processes that torchrun started; alone, where it started none.

    Parameters
    ----------
    device : str
        "cpu" (gloo) or "cuda" (NCCL, each process on its own card).
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes(device=device)
        return
    cuda = device.startswith("cuda")
    local = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if cuda else device
    if cuda:
        torch.cuda.set_device(local)
    try:
        dist.init_process_group("nccl" if cuda else "gloo")
    except (RuntimeError, ValueError) as error:
        raise InputError(f"the {count} processes cannot be joined ({error}); start them with torchrun.") from error
    try:
        yield Processes(dist.get_rank(), count, local)
        # a process that leaves while another still talks closes a connection under it
        dist.barrier()
    finally:
        dist.destroy_process_group()
