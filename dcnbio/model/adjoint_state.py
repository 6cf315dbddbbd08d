"""The state of the adjoint equation as one row of numbers: h, its adjoint and the gradients of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dcnbio.model.device import double

__all__ = ["AdjointLayout"]

PIECE = 1 << 16  # numbers worked on at once, so that what lies between two operations stays in the cache


@dataclass(frozen=True)
class AdjointLayout:
    """Where h, its adjoint a = dL/dh and the gradients dL/dtheta lie in one row of numbers.

    One row makes a stage of the solver one product of a matrix and a vector. Maps lie in it channels last, as the
    compiled engine has them.

    Attributes
    ----------
    maps : torch.Size
        Of h, (n, ...).
    tensors : tuple of torch.Size
        Of the tensors that gradients are wanted of.

    Examples
    --------
    >>> layout = AdjointLayout(torch.Size([1, 2, 1, 1]), (torch.Size([3]),))
    >>> row = layout.row(torch.ones(1, 2, 1, 1), torch.zeros(1, 2, 1, 1), [torch.full((3,), 2.0)])
    >>> row.tolist(), [tuple(part.shape) for part in layout.parts(row)]
    ([1.0, 1.0, 0.0, 0.0, 2.0, 2.0, 2.0], [(1, 2, 1, 1), (1, 2, 1, 1), (3,)])
    """

    maps: torch.Size
    tensors: tuple[torch.Size, ...]

    @property
    def sizes(self) -> list[int]:
        """Numbers in each part."""
        return [self.maps.numel(), self.maps.numel(), *(shape.numel() for shape in self.tensors)]

    def flat(self, maps: Tensor) -> Tensor:
        """Lay maps out in a row."""
        return (maps.permute(0, 2, 3, 1) if maps.ndim == 4 else maps).reshape(-1)

    def as_maps(self, numbers: Tensor) -> Tensor:
        """Read maps from a row, without a copy."""
        if len(self.maps) != 4:
            return numbers.view(self.maps)
        n, channels, height, width = self.maps
        return numbers.view(n, height, width, channels).permute(0, 3, 1, 2)

    def write(self, row: Tensor, h: Tensor, adjoint: Tensor, gradients: Sequence[Tensor | None]) -> Tensor:
        """Fill a row; None is zero."""
        values = [self.flat(h), self.flat(adjoint), *gradients]
        for part, value in zip(torch.split(row, self.sizes), values, strict=True):
            if value is None:
                part.zero_()
            else:
                part.copy_(value.reshape(-1))
        return row

    def row(self, h: Tensor, adjoint: Tensor, gradients: Sequence[Tensor | None]) -> Tensor:
        """Make a row."""
        return self.write(h.new_empty(sum(self.sizes)), h, adjoint, gradients)

    def parts(self, row: Tensor) -> list[Tensor]:
        """Read h, its adjoint and the gradients from a row, without a copy."""
        h, adjoint, *rest = torch.split(row, self.sizes)
        gradients = [part.view(shape) for part, shape in zip(rest, self.tensors, strict=True)]
        return [self.as_maps(h), self.as_maps(adjoint), *gradients]

    def pieces(self) -> Iterator[list[slice]]:
        """Give, part by part, the slices of a row that are worked on at once; parts without numbers are left out."""
        first = 0
        for size in self.sizes:
            if size:
                starts = range(first, first + size, PIECE)
                yield [slice(start, min(start + PIECE, first + size)) for start in starts]
            first += size

    def norm(self, values: Callable[[slice], Tensor], reduce: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """Take the largest root mean square of the parts.

        Parameters
        ----------
        values : callable
            Gives the numbers of a slice.
        reduce : callable, optional
            Adds a tensor up over processes. Each has some of the images, so of h and a it is sums of squares that are
            added; a process's share of the parameters' gradients is added up number by number, near what one process
            finds but not equal to it: all processes take the same steps, and one alone may take others.

        Returns
        -------
        Tensor, scalar, float64
        """
        norms = []
        for number, slices in enumerate(self.pieces()):
            own = number > 1 and reduce is not None  # parameters, of several processes
            found = (reduce(values(piece)) if own and reduce is not None else values(piece) for piece in slices)
            squares = torch.stack([double(part.square().sum()) for part in found]).sum()
            total = torch.stack([squares, squares.new_tensor(float(slices[-1].stop - slices[0].start))])
            total = reduce(total) if reduce is not None and not own else total
            norms.append((total[0] / total[1]).sqrt())
        return torch.stack(norms).max().cpu()
