"""The commands under one name, and what becomes of errors and interruptions."""

from __future__ import annotations

import json
import signal
import sys
import warnings
from types import FrameType

from cyclopts import App, CycloptsError

from dcnbio.commands.cite import cite
from dcnbio.commands.evaluate import evaluate
from dcnbio.commands.import_checkpoint import import_checkpoint
from dcnbio.commands.info import info
from dcnbio.commands.probe import probe
from dcnbio.commands.train import train
from dcnbio.errors import DcnbioError
from dcnbio.version import __version__

__all__ = ["app", "run"]

app = App(
    name="dcnbio",
    version=__version__,
    help="Record, measure and compare Deep Continuous Networks as one does a visual cortex.",
    result_action="return_value",
    exit_on_error=False,
    print_error=False,
)
app.command(probe)
app.command(train)
app.command(evaluate)
app.command(info)
app.command(import_checkpoint, name="import")
app.command(cite)


class Terminated(BaseException):
    """SIGTERM arrived; like KeyboardInterrupt, so that files are closed on the way out."""


def terminate(signum: int, frame: FrameType | None) -> None:
    """Leave by way of an exception."""
    raise Terminated


def complain(message: str) -> None:
    """Print one plain message."""
    print(f"dcnbio: {message}", file=sys.stderr)


def usage(error: CycloptsError) -> str:
    """Put cyclopts' finding in one sentence."""
    return " ".join(str(error).split()) + " (see dcnbio --help)"


def run(arguments: list[str]) -> int:
    """Run one command and give its exit status.

    0 done; 2 usage or input error, one plain message and nothing written; 3 finished but some items failed; 130 and 143
    after SIGINT and SIGTERM, with what is finished kept.
    """
    signal.signal(signal.SIGTERM, terminate)
    warnings.filterwarnings("ignore", category=FutureWarning)
    try:
        status = app(arguments)
    except CycloptsError as error:
        complain(usage(error))
        return 2
    except DcnbioError as error:
        complain(str(error))
        return error.exit_status
    except KeyboardInterrupt:
        complain("interrupted; what is finished is kept (go on with --resume)")
        return 130
    except Terminated:
        complain("terminated; what is finished is kept (go on with --resume)")
        return 143
    except BrokenPipeError:
        return 0
    except MemoryError:
        complain("memory ran out; use a smaller --batch-size, fewer --times or fewer --blocks")
        return 2
    except (OSError, json.JSONDecodeError) as error:
        complain(str(error))
        return 2
    return status if isinstance(status, int) else 0
