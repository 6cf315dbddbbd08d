"""The CRC-32C of two pieces of bytes one after the other, from those of each: nothing is read twice."""

from __future__ import annotations

__all__ = ["joined_crc", "shift_by"]

POLYNOMIAL = 0x82F63B78  # of Castagnoli, its bits reversed
ONE = 1 << 31


def product(one: int, other: int) -> int:
    """Multiply two polynomials over GF(2), modulo the CRC's; the highest bit is the constant term."""
    total, bit = 0, ONE
    while bit:
        if one & bit:
            total ^= other
        other = other >> 1 ^ (POLYNOMIAL if other & 1 else 0)
        bit >>= 1
    return total


def shift_by(length: int) -> int:
    """Give x^(8 length), by which a CRC is multiplied when so many bytes follow.

    Examples
    --------
    >>> hex(shift_by(0)), hex(shift_by(1))
    ('0x80000000', '0x800000')
    """
    power, square = ONE, ONE >> 8
    while length:
        if length & 1:
            power = product(power, square)
        square = product(square, square)
        length >>= 1
    return power


def joined_crc(first: int, second: int, shift: int) -> int:
    """Give the CRC-32C of two pieces of bytes.

    Parameters
    ----------
    first, second : int
        CRC-32C of each.
    shift : int
        `shift_by` of the second's length.

    Returns
    -------
    int

    Examples
    --------
    >>> import google_crc32c
    >>> one, other = google_crc32c.value(b"ode"), google_crc32c.value(b"block")
    >>> joined_crc(one, other, shift_by(5)) == google_crc32c.value(b"odeblock")
    True
    """
    return product(first, shift) ^ second
