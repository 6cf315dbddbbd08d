"""What is changed in each block when the contrast is c: input, time, and what the scaling law asks for beside them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

__all__ = ["FACTORS", "UNCHANGED", "BlockCondition", "Condition", "Correction", "all_blocks", "block_1", "loosened"]

# "tolerance" alone would be taken by xarray's sel for an argument of its own, without a word
FACTORS = ("eps", "time_term", "solver_tolerance")


@dataclass(frozen=True)
class Correction:
    """Which of the three things that break the scaling law are scaled along with the contrast.

    Attributes
    ----------
    eps : bool
        The norms that read h take c^2 eps, which is to c h what eps is to h.
    time_term : bool
        The time channel is read at t / c.
    tolerance : bool
        atol and the first step are multiplied by c, and rtol weighs h without the constant that contrast leaves alone.
    """

    eps: bool = False
    time_term: bool = False
    tolerance: bool = False

    @classmethod
    def full(cls) -> Correction:
        """Correct all: the solve is then that of contrast 1, step by step."""
        return cls(True, True, True)


@dataclass(frozen=True)
class BlockCondition:
    """What is changed in one block.

    Attributes
    ----------
    contrast : float
        c: the block's input is c h(0), or c h(0) + (1 - c) b where the image was scaled and b is the stem's bias.
    scaled_here : bool
        Whether h(0) itself is multiplied by c; else the image was.
    time : float
        Factor of T.
    correction : Correction
    looser : float
        Factor of rtol, atol and the first step that the solver's rule chooses.
    """

    contrast: float = 1.0
    scaled_here: bool = False
    time: float = 1.0
    correction: Correction = field(default_factory=Correction)
    looser: float = 1.0


UNCHANGED = BlockCondition()


@dataclass(frozen=True)
class Condition:
    """What is changed in a network.

    Attributes
    ----------
    image : float
        Factor of the image.
    blocks : dict of int to BlockCondition
        By block number; a block that is left out is as it was trained.
    """

    image: float = 1.0
    blocks: dict[int, BlockCondition] = field(default_factory=dict)

    def block(self, number: int) -> BlockCondition:
        """Give what is changed in a block."""
        return self.blocks.get(number, UNCHANGED)


def block_1(c: float, time: float, correction: Correction | None = None) -> Condition:
    """Scale the image by c and block 1's T by a factor (the paper's T-hat: time = c).

    Examples
    --------
    >>> block_1(0.06, 0.06).block(1).time, block_1(0.06, 0.06).block(2).time
    (0.06, 1.0)
    """
    changed = BlockCondition(c, time=time, correction=correction or Correction())
    return Condition(c, {1: changed})


def loosened(factor: float) -> Condition:
    """Loosen block 1's tolerance and lengthen its first step by a factor, at contrast 1.

    By the scaling law a run at contrast 1 / factor whose atol and first step stay is one with both times the factor at
    contrast 1. A looser tolerance alone would begin with the step that the rule chooses, which is cautious, and never
    get down to the few evaluations that low contrast takes.

    Examples
    --------
    >>> loosened(100).block(1).looser, loosened(100).block(2).looser
    (100, 1.0)
    """
    return Condition(blocks={1: BlockCondition(looser=factor)})


def all_blocks(c: float, blocks: int, time: float, correction: Correction | None = None) -> Condition:
    """Scale the input h(0) of every block by c and every T by a factor; the image stays."""
    one = BlockCondition(c, scaled_here=True, time=time, correction=correction or Correction())
    return Condition(1.0, {number: replace(one) for number in range(1, blocks + 1)})
