"""The command line: ``dcnbio`` and ``python -m dcnbio``."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command line; heavy imports happen in the command that needs them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # an interruption while modules are imported ends the process without a traceback; `run` puts it back
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dcnbio.commands.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
