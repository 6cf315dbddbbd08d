"""The command line: ``dcnbio`` and ``python -m dcnbio``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; heavy imports happen in the command that needs them."""
    from dcnbio.commands.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
